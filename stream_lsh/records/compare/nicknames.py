"""Short and pet forms of English given names: names that may belong to one person.

Each line is one name with its forms; a form may be on several lines, such as Pat.
"""

from collections.abc import Mapping

_FORMS = """
abigail abby abbie gail
abraham abe bram
albert al bert bertie
alexander alex al sandy alec sasha xander
alexandra alex sandra sandy lexi sasha alexa
alfred alf alfie fred al
alice allie
amanda mandy
amelia amy millie emily
anastasia anastassia nastassia stacy nastasia tasia
andrew andy drew
angela angie
anne ann anna annie nancy nan hannah
annabelle anabella anabelle annabel bella belle
anthony tony
arthur art artie
augustus gus
barbara barb babs barbie
bartholomew bart
benjamin ben benny benji
bernard bernie
bridget biddy bridie
caroline carolyn carrie carol caro
catherine katherine kathryn katharine cathy kathy kate katie kit kitty cath kay katy
cecilia cissy celia
charles charlie chuck chas chaz
charlotte charlie lottie
christina christine chris tina chrissie
christopher chris kit topher
clement clem
constance connie
cornelius con neil
daniel dan danny
david dave davy davey
deborah deb debbie debra
dennis denny
dominic dom nick
donald don donny
dorothy dot dolly dottie dorothea
douglas doug
edmund ed eddie ned ted
edward ed eddie eddy ned ted teddy
edwin ed eddie ned
eleanor nell nellie ellie nora elinor
elizabeth liz beth betty betsy bess bessie eliza lizzie lisa elsie libby elisabeth
ellen nell nellie helen
emily em emmy millie
ernest ernie
esther essie hester
eugene gene
florence flo flossie florrie
frances fran fanny frankie francie
francis frank frankie fran
franklin frank
frederick fred freddie freddy fritz
gabriel gabe
geoffrey jeffrey geoff jeff
george georgie georg
gerald gerry jerry
gilbert gil bert
gregory greg
gwendolen gwen
harold harry hal
harriet hattie harriett
helen nell nellie ellen
henrietta hetty etta
henry harry hal hank
herbert herb bert bertie
howard howie
hugh hugo hughie
ignatius iggy
isaac ike
isabella bella isabel isobel izzy belle
jacob jake jacobus
jacqueline jackie
james jim jimmy jamie jem
jane jenny janie janet jean
jeffrey jeff geoff
jennifer jen jenny
jeremiah jerry
jessica jess jessie
joan joanna jo joanne
john jack johnny jon jock
jonathan jon jonny
joseph joe joey jo
josephine jo josie
joshua josh
judith judy
julia julie jules
katherine kate kathy katie kitty
kenneth ken kenny
kimberly kim
laurence lawrence larry laurie
leonard len leo lenny
lewis louis lou lew luis
lillian lily lil lilian
louisa louise lou
lucy lucinda lucia
magdalena lena magda
margaret maggie meg peggy peg madge margie marge greta rita daisy peggie
martha mattie patty
martin marty
mary molly polly mae mamie maria marie
matilda tilly mattie
matthew matt
maurice morris mo morrie
maximilian max
michael mike mick mickey micky
mildred millie
mohammed mohamed muhammad muhammed mohammad mhd mohd
nathaniel nathan nat nate
nicholas nick nicky nicolas
oliver ollie
olivia liv livvy
oscar ossie
pamela pam
patricia pat patty tricia trish patsy
patrick pat paddy
peter pete
philip phil phillip pip
rachel rae
raymond ray
rebecca becky becca
reginald reg reggie
richard dick rick ricky rich richie
robert bob bobby rob robbie bert
roderick rod roddy ray
roger rodge
ronald ron ronnie
rosemary rosie rose
samantha sam sammy
samuel sam sammy
sarah sara sally sadie sahra zara
simon si
stephen steven steve stevie
susan sue susie suzie susanna susannah susanne suzanne
terence terry
theodore ted teddy theo
theresa teresa tess terry tessa
thomas tom tommy
timothy tim
tobias toby
victor vic
victoria vicky vic
vincent vince
virginia ginny
walter walt wally wat
wilfred wilf
wilhelmina mina
william will bill billy willie willy liam
winifred winnie
zachary zach zack
"""


def _by_form() -> Mapping[str, frozenset[int]]:
    lines: dict[str, set[int]] = {}
    for number, line in enumerate(_FORMS.split("\n")):
        for form in line.split():
            lines.setdefault(form, set()).add(number)
    return {form: frozenset(numbers) for form, numbers in lines.items()}


_NONE = frozenset[int]()
_LINES = _by_form()


def are_forms(left: str, right: str) -> bool:
    """Whether two given names may be forms of the same one.

    Example:
        >>> are_forms("bob", "robert"), are_forms("pat", "patrick"), are_forms("patricia", "patrick")
        (True, True, False)
    """
    return not _LINES.get(left, _NONE).isdisjoint(_LINES.get(right, _NONE))
