"""News stories, assembled from sentences with names, places and numbers: realistic, and the same for the same seed."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple


class Story(NamedTuple):
    """A story of the agency: a headline, and a text of three paragraphs."""

    title: str
    text: str


_SENTENCES = (3, 3, 2)
"""Sentences in each paragraph."""

_SLOTS: Mapping[str, Sequence[str]] = {
    "town": (
        "Millbrook Ashford Larkfield Easton Norwell Harrowgate Stonebridge Kingsmere Fairhaven Ravensby Oakhurst "
        "Westmoor Aldbury Thornley Whitcombe Redcliff Saltburn Elmstead Danbury Glenford"
    ).split(),
    "name": (
        "Ruth Almeida;Peter Lindqvist;Amara Osei;Jonas Keller;Helen Brandt;Tomasz Nowak;Leila Haddad;Martin Frey;"
        "Ines Carvalho;David Okafor;Sofia Rossi;Karl Johansson;Mei Tanaka;Robert Hale;Anna Petrova;Samuel Grant"
    ).split(";"),
    "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
    "month": "January February March April May June September October November December".split(),
    "count": "nine eleven fourteen twenty thirty forty sixty eighty ninety".split(),
    "sum": "two three four six seven twelve fifteen eighteen twenty-five".split(),
    "part": "a fifth;a quarter;a third;nearly half;more than half;two thirds".split(";"),
    "street": "Mill Lane;Station Road;Harbour Street;Castle Hill;Park Avenue;Church Walk;Bridge Street".split(";"),
    "firm": "Norvik Castell Brightwater Halden Meridian Oakfield Sterna Lumen Corvus Tideway".split(),
}

_BEATS: Mapping[str, Sequence[str]] = {
    "{town} council votes to repair the {street} bridge": (
        "The council of {town} voted on {day} to repair the bridge at {street} before the end of {month}.",
        "{count} of the members spoke in a debate that lasted until midnight.",
        "Engineers had warned that {sum} of its piers are no longer safe for lorries.",
        "The work will cost about {sum} million, and the state pays {part} of it.",
        "Traffic will be led through {street} for {count} weeks, {name} of the road office explained.",
        "Shop owners near the river fear for their sales and ask for a temporary footbridge.",
        "An earlier plan to replace the bridge failed {sum} years ago for lack of money.",
        "{name}, who chairs the building committee, called the decision overdue.",
        "The first cranes arrive in {town} in {month}, if the weather permits.",
        "Bus line {count} ends at the market square until the bridge reopens.",
    ),
    "River floods {count} homes in {town}": (
        "The river at {town} rose by {sum} metres in the night to {day} and flooded {count} homes.",
        "Firefighters brought {count} residents to a school in {street} by boat.",
        "No one was hurt, but {sum} farms lost their animals, according to {name} of the rescue service.",
        "It was the highest water since a storm in {month} {sum} years ago.",
        "Volunteers filled sandbags until the morning along {street}.",
        "The railway between {town} and {town} remains closed until {day}.",
        "Forecasters expect {part} less rain for the rest of the week.",
        "The mayor, {name}, asked people to boil their drinking water.",
        "Insurers put the damage at {sum} million, a first estimate that may still grow.",
        "A dam that could have held the water back has been planned since {month}.",
    ),
    "{firm} cuts {count} jobs at its plant in {town}": (
        "The manufacturer {firm} will cut {count} jobs at its plant in {town} by {month}.",
        "Orders have fallen by {part} within a year, the company announced on {day}.",
        "Works councils called the plan a shock and demanded talks before {day}.",
        "{name}, chief executive for {sum} years, blamed high prices for energy.",
        "The site makes pumps and valves that are sold in {count} countries.",
        "A union meeting at {street} drew {count} workers and their families.",
        "The town loses its largest employer if the second line closes, too, {name} warned.",
        "Shares of {firm} rose by {part} of a point after the announcement.",
        "The company offers training for {part} of those affected.",
        "{sum} years ago it had promised to keep all jobs until the end of the decade.",
    ),
    "{town} wins the cup after {sum} goals in extra time": (
        "{town} won the regional cup on {day} with {sum} goals in extra time against {town}.",
        "{name} scored twice before {count} hundred spectators in the stadium at {street}.",
        "The visitors had led for {part} of the match and missed a penalty shortly before the end.",
        "Coach {name} praised a team that few had expected in the final.",
        "It is the first title of the club for {count} years.",
        "A red card changed the game after the break, when {sum} defenders were already injured.",
        "Fans celebrated in {street} until the early morning; the police counted {count} reports of noise.",
        "The next opponent is {firm} {town}, who won the league in {month}.",
        "Tickets for the semi-final in {month} are on sale from {day}.",
        "Goalkeeper {name} leaves the club after {sum} seasons.",
    ),
    "New wing of {town} hospital opens in {month}": (
        "The new wing of the hospital in {town} opens in {month}, {sum} months later than planned.",
        "It has {count} beds, {sum} operating rooms and a ward for premature babies.",
        "The building at {street} cost {count} million, {part} more than the first estimate.",
        "{name}, who directs the hospital, still looks for {count} nurses.",
        "Patients from {town} will no longer be driven for an hour after an accident.",
        "A helicopter can land on the roof, which residents of {street} had opposed in court.",
        "The old wing becomes a school for nurses with places for {count} students.",
        "Minister {name} visited the site on {day} and promised {sum} million for equipment.",
        "An open day on {day} lets visitors see the laboratories and the kitchen.",
        "Heat comes from the ground and saves {part} of the energy of the old building.",
    ),
    "Drivers strike: {part} of the trains in {town} do not run": (
        "{part} of the trains through {town} did not run on {day} because drivers were on strike.",
        "The union asks for {sum} percent more pay and for shorter shifts at night.",
        "{count} thousand commuters had to take buses or stay at home, the operator reported.",
        "Talks had failed after {count} hours, shortly before midnight on {day}.",
        "{name} of the union announced further strikes in {month} unless the offer improves.",
        "The operator {firm} called the demands unrealistic and pointed to {sum} new contracts.",
        "Long queues formed at {street}, where taxis doubled their prices.",
        "Schools in {town} opened an hour later than usual.",
        "A mediator, {name}, is to bring both sides together by {day}.",
        "Freight trains were delayed, too, and a plant of {firm} stopped a line for want of parts.",
    ),
    "Court stops wind farm near {town}": (
        "A court in {town} stopped the construction of {count} wind turbines on {day}.",
        "The judges found that the study of birds covered {sum} months instead of a year.",
        "{firm}, which plans the farm, may build once it has repeated the study.",
        "Residents of {street} had sued because of noise and shadows.",
        "{name}, their lawyer, called the ruling a signal for the whole region.",
        "The turbines were to supply {part} of the households of {town}.",
        "The company puts its loss at {sum} million for each month of delay.",
        "An appeal is possible until {month}; {name} of the company left open whether it will file one.",
        "Foundations for {sum} of the turbines are finished already.",
        "The state wants to double its wind power within {count} years.",
    ),
    "Museum in {town} shows {count} lost paintings": (
        "The museum in {town} shows {count} paintings from {day} that were thought lost for {sum} decades.",
        "They were found in the attic of a house at {street} after the death of its owner.",
        "{name}, who leads the collection, dates {part} of them to the years after the war.",
        "Experts from {town} cleaned the canvases for {sum} months under glass.",
        "Families of former owners were asked before the show; {sum} works went back to them.",
        "The centrepiece is a view of the harbour that a dealer had valued at {sum} million.",
        "Schools get in free on {day}, and tours are held in {sum} languages.",
        "The painter {name} had worked in {town} for {count} years and sold little.",
        "A catalogue with {count} pages appears in {month}.",
        "Thieves had tried to enter the store room in {month}, but an alarm stopped them.",
    ),
    "{firm} recalls {count} thousand heaters": (
        "{firm} recalls {count} thousand heaters that were sold between {month} and {month}.",
        "A cable can come loose and cause a fire, the company stated on {day}.",
        "{sum} fires are known so far, one of them in a flat at {street} in {town}.",
        "Customers get their money back without a receipt at any shop.",
        "{name} of the consumer office had demanded the recall for {sum} months.",
        "The part came from a supplier in {town} that has closed since.",
        "{part} of the devices are in use abroad and are covered as well.",
        "The serial number is printed below the handle and starts with the letter K.",
        "A test by {name} at the technical university had shown the fault after {count} hours.",
        "The recall may cost {sum} million, {part} of the profit of last year.",
    ),
    "Bees return to {town} after {sum} years": (
        "Wild bees have returned to the meadows of {town} after {sum} years, biologists reported on {day}.",
        "{name} and {count} students counted {sum} species, among them one that is listed as endangered.",
        "Farmers leave strips of flowers uncut and get {part} of their loss refunded.",
        "The count along {street} takes place each {month} with nets and cameras.",
        "Pesticides are banned within {count} metres of the nature reserve.",
        "Honey from {town} won a prize at the fair in {month}.",
        "Schools built {count} nesting boxes with help from the company {firm}.",
        "A dry {month} could still undo the success, {name} cautioned.",
        "The programme costs {sum} hundred thousand a year and ends in {month}.",
        "Other towns, among them {town}, want to follow the example.",
    ),
}


def stories(count: int, seed: int = 1) -> list[Story]:
    """Some stories: headlines in turn over the subjects, each with sentences of its own choice and order.

    Example:
        >>> story = stories(1)[0]
        >>> story.text.count(chr(10) * 2), "{" in story.text
        (2, False)
    """
    random = Random(seed)  # noqa: S311 - the same stories for the same seed
    beats = list(_BEATS.items())
    return [_story(*beats[number % len(beats)], random) for number in range(count)]


def _story(title: str, sentences: Sequence[str], random: Random) -> Story:
    own = {slot: random.choice(_SLOTS[slot]) for slot in ("town", "firm", "street")}
    first, *others = sentences
    chosen = iter([first, *random.sample(others, sum(_SENTENCES) - 1)])
    paragraphs = [" ".join(_filled(next(chosen), own, random) for _ in range(size)) for size in _SENTENCES]
    return Story(_filled(title, own, random), "\n\n".join(paragraphs))


def _filled(sentence: str, own: Mapping[str, str], random: Random) -> str:
    """The sentence with a value in each slot: first the own town, firm and street of the story, then any."""
    for slot, values in _SLOTS.items():
        others = [value for value in values if value != own.get(slot)]
        drawn = random.sample(others, sentence.count(f"{{{slot}}}"))
        for value in [own[slot], *drawn][: len(drawn)] if slot in own else drawn:
            sentence = sentence.replace(f"{{{slot}}}", value, 1)
    return sentence[:1].upper() + sentence[1:]
