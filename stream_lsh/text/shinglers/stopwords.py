"""Stop words by language: articles, pronouns, prepositions, conjunctions, auxiliaries.

They are frequent in running prose, and rare in menus, headings and advertisements.  The lists contain only words of
every text of the language; longer lists would include words that carry a topic.  Words are tokens of
`stream_lsh.text.hashing.tokens`: lower-cased, without apostrophes.
"""

from collections.abc import Mapping

STOP_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "de": """
            aber alle allem allen aller alles als also am an ander andere anderen anderer anderes auch auf aus bei beim
            bin bis bist da damit dann das dass dein deine dem den denn der des deren dessen dich die dies diese diesem
            diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer für gegen
            hat hatte hatten haben habe hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins indem ist
            jede jedem jeden jeder jedes jetzt kann kein keine keinem keinen keiner können man mein meine mich mir mit
            muss nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit selbst sich sie
            sind so soll sollte sondern über um und uns unser unsere unter viel vom von vor war waren was weg weil
            welche welcher welches wenn wer werde werden wie wieder will wir wird wo wurde wurden zu zum zur zwar
            zwischen
        """,
        "en": """
            a about after again against all also am among an and any are as at be because been before being between both
            but by can could did do does doing down during each few for from further had has have having he her here
            hers him his how i if in into is it its itself just may me might more most must my no nor not now of off on
            once only or other our out over own per same shall she should so some such than that the their them then
            there these they this those through to too under until up upon us very was we were what when where which
            while who whom whose why will with would yet you your
        """,
        "es": """
            a al algo algunas alguno algunos ante antes aquel aquella así aun aunque bajo bien cada casi como con contra
            cual cuando de del desde donde dos durante e el ella ellas ellos en entre era eran es esa esas ese eso esos
            esta estaba estado estas este esto estos está están fue fueron ha haber había han hasta hay la las le les lo
            los más me mi mientras muy nada ni no nos nosotros o otra otras otro otros para pero poco por porque puede
            que qué quien se según ser si sido sin sino sobre son su sus también tan tanto te tiene tienen toda todas
            todo todos tu un una unas uno unos y ya yo
        """,
        "fr": """
            a afin ai ainsi alors après au aucun aussi autre autres aux avant avec avait avoir c car ce cela celle celui
            ces cet cette ceux chaque ci comme d dans de depuis des deux dont du elle elles en encore entre est et
            étaient était été être eu eux fait il ils j je jusqu l la le les leur leurs lors lui m ma mais me même mes
            moi mon n ne ni nos notre nous on ont ou où par parce pas peu peut plus pour pourquoi qu quand que quel
            quelle qui quoi s sa sans se selon ses si son sont sous sur t ta te tes toi ton tous tout toute toutes très
            tu un une vers votre vous y à
        """,
        "it": """
            a ad agli ai al alla alle allo anche ancora avere aveva avevano c che chi ci come con contro cui d da dagli
            dai dal dalla dalle dallo degli dei del dell della delle dello di dopo dove e ed era erano essere fino fra
            ha hanno ho i il in io l la le lei li lo loro lui ma me mentre mi mia mio molto ne negli nei nel nell nella
            nelle nello noi non o ogni per perché però più poi prima può qual quale quando quello quella quelli questa
            queste questi questo qui se sei senza si sia siamo sono sotto sta stata stati stato su sua sue sugli sui sul
            sulla sulle suo suoi tra tutta tutte tutti tutto un una uno vi è
        """,
        "nl": """
            aan al alle alleen als altijd ander andere ben bij daar dan dat de deze die dit doch doen door dus een eens
            en er ge geen haar had hadden heb hebben heeft hem hen het hier hij hoe hun ik in is ja je kan kon kunnen
            maar me meer men met mij mijn moet na naar net niet niets nog nu of om omdat ons ook op over reeds te tegen
            toch toen tot u uit uw van veel voor want waren was wat we wel werd werden wezen wie wij wil worden wordt
            zal ze zelf zich zij zijn zo zonder zou
        """,
        "pt": """
            a ao aos aquela aquele as até com como da das de dela dele deles depois do dos e ela elas ele eles em entre
            era eram essa esse esta está estão estava este eu foi foram há isso isto já la lhe lhes mais mas me mesmo
            meu minha muito na não nas nem no nos nós nossa nosso num numa o os ou para pela pelas pelo pelos por porque
            qual quando que quem se sem ser será seu seus só sobre sua suas também te tem têm ter teve tinha toda todas
            todo todos tu um uma umas uns você vos à às é
        """,
    }.items()
}
"""ISO 639-1 code to the words."""
