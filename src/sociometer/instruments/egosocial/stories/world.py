"""The world of a hidden-object story: what can happen in it and what can be asked about it."""

from collections.abc import Iterable

import msgspec
from msgspec import Struct


class Enter(msgspec.Struct, frozen=True, tag=True):
    """A person comes into a room."""

    person: str
    room: str


class Exit(msgspec.Struct, frozen=True, tag=True):
    """A person leaves a room."""

    person: str
    room: str


class Place(msgspec.Struct, frozen=True, tag=True):
    """A thing lies in a container, in plain sight of everybody in the room."""

    thing: str
    container: str


class Move(msgspec.Struct, frozen=True, tag=True):
    """Somebody (or `None`, if nobody was seen) puts a thing into another container."""

    person: str | None
    thing: str
    container: str


class Tell(msgspec.Struct, frozen=True, tag=True):
    """One person tells another, in private, where a thing is.

    A teller who is not `honest` believes something else. `hearers` overhear it unnoticed. `source` is who sent it, if
    the teller passes a message on. `corrects` is for the wording: it puts right what somebody else said.
    """

    teller: str
    listener: str
    thing: str
    container: str
    honest: bool = True
    hearers: tuple[str, ...] = ()
    source: str = ""
    corrects: bool = False


class Send(msgspec.Struct, frozen=True, tag=True):
    """One person asks another to tell a third where a thing is, and assumes that this is done."""

    sender: str
    messenger: str
    listener: str
    thing: str
    container: str


class Lose(msgspec.Struct, frozen=True, tag=True):
    """A message that somebody was asked to pass on never arrives; nobody notices."""

    messenger: str
    listener: str


class Hear(msgspec.Struct, frozen=True, tag=True):
    """Somebody outside hears, without seeing anything and unnoticed, where the mover has just put a thing."""

    person: str
    mover: str
    thing: str
    container: str


class Glimpse(msgspec.Struct, frozen=True, tag=True):
    """Somebody outside notices that the mover put something into a container, but not what: nobody learns anything."""

    person: str
    mover: str
    container: str


class Forget(msgspec.Struct, frozen=True, tag=True):
    """A person forgets the last that they learnt about a thing; nobody else knows."""

    person: str
    thing: str


class Watch(msgspec.Struct, frozen=True, tag=True):
    """A person outside a room begins to watch it, unseen by anybody."""

    person: str
    room: str


class Unwatch(msgspec.Struct, frozen=True, tag=True):
    """A person who watched a room unseen turns away from it."""

    person: str
    room: str


class Remark(msgspec.Struct, frozen=True, tag=True):
    """A sentence that changes nobody's beliefs: a person likes or hates something."""

    person: str
    verb: str
    thing: str


Event = Enter | Exit | Place | Move | Tell | Send | Lose | Hear | Glimpse | Forget | Watch | Unwatch | Remark


class Story(msgspec.Struct, frozen=True):
    """A sequence of events, with the room in which each container stands."""

    events: tuple[Event, ...]
    rooms: dict[str, str]

    def people(self) -> tuple[str, ...]:
        """Everybody who acts, in order of appearance."""
        names: dict[str, None] = {}
        for event in self.events:
            for name in people_in(event):
                names.setdefault(name)
        return tuple(names)

    def containers_of(self, thing: str) -> tuple[str, ...]:
        """The containers named in the story that stand in the thing's room, in order of appearance."""
        held = holdings(self.events, thing)
        room = self.rooms[held[0]] if held else None
        named = (event.container for event in self.events if isinstance(event, Place | Move))
        return tuple(dict.fromkeys(name for name in named if self.rooms[name] == room))


class Question(msgspec.Struct, frozen=True):
    """A question about a thing's place.

    `memory`, `reality`, the nested `belief` of a chain of people, what the last of the chain would `say` to a listener
    who asks, as the others of the chain believe. Or a number over all `things`: how often the people `among` whom is
    asked would look where it really is (`right`), or are wrong about where another of them would look (`wrong`) or
    thinks that a third would (`nested`).
    """

    kind: str
    thing: str
    chain: tuple[str, ...] = ()
    listener: str = ""
    among: tuple[str, ...] = ()
    things: tuple[str, ...] = ()

    @property
    def order(self) -> int:
        """How many minds are nested in the question; 0 for memory and reality."""
        return len(self.chain)


def people_in(event: Event) -> tuple[str, ...]:
    """The people an event names."""
    if isinstance(event, Tell):
        return (event.teller, event.listener, *event.hearers)
    if isinstance(event, Send):
        return (event.sender, event.messenger, event.listener)
    if isinstance(event, Lose):
        return (event.messenger, event.listener)
    if isinstance(event, Hear | Glimpse):
        return (event.person, event.mover)
    if isinstance(event, Place) or event.person is None:
        return ()
    return (event.person,)


def holdings(events: Iterable[Event], thing: str) -> list[str]:
    """The containers in which a thing really was, one after the other."""
    return [event.container for event in events if isinstance(event, (Place, Move)) and event.thing == thing]


class Vocabulary(Struct, frozen=True):
    """The names of one language."""

    people: tuple[str, ...]
    rooms: tuple[str, ...]
    containers: tuple[str, ...]
    things: tuple[str, ...]


PEOPLE = (
    "Adaeze", "Anouk", "Bashir", "Beatriz", "Bilal", "Birgit", "Carys", "Chidi", "Dalia", "Dmitri", "Efua", "Eleni",
    "Farid", "Femi", "Gerd", "Gulnara", "Hamza", "Hiroko", "Ilse", "Imani", "Ines", "Jarek", "Jomo", "Kalani",
    "Katya", "Kofi", "Lakshmi", "Leila", "Lerato", "Mateo", "Meilin", "Mirza", "Nadia", "Nikos", "Noor", "Odile",
    "Pavel", "Pilar", "Quang", "Ravi", "Rosalind", "Sanna", "Selma", "Tadashi", "Tamsin", "Tariq", "Thandi", "Tomasz",
    "Uma", "Viktor", "Wanjiru", "Wei", "Xiomara", "Yara", "Yusuf", "Zainab", "Zofia",
)  # fmt: skip
"""Names from many places; none is a form of another, so that a replaced name can be looked for as a word."""

ROOMS = (
    "bakery", "boathouse", "cloakroom", "conservatory", "darkroom", "greenhouse", "infirmary", "laundry_room",
    "library", "loft", "mail_room", "music_room", "nursery", "reading_room", "sewing_room", "stable", "storeroom",
    "tack_room", "tea_room", "ticket_office", "waiting_room", "weaving_shed", "woodshed", "workshop",
)  # fmt: skip

CONTAINERS = (
    "blue_tin", "brass_bowl", "canvas_bag", "cardboard_box", "clay_jar", "copper_pot", "cupboard", "desk_drawer",
    "enamel_bucket", "fishing_basket", "glass_cabinet", "hat_box", "iron_chest", "lacquered_case", "leather_satchel",
    "linen_basket", "metal_locker", "oak_barrel", "picnic_hamper", "porcelain_vase", "red_crate", "sewing_box",
    "shoe_box", "toy_trunk", "wooden_crate", "woven_basket",
)  # fmt: skip

THINGS = (
    "binoculars", "candle", "chess_clock", "compass", "dictionary", "doll", "fountain_pen", "gloves", "harmonica",
    "jigsaw_piece", "kettle", "lantern", "letter", "magnifying_glass", "mango", "marbles", "notebook",
    "opera_tickets", "passport", "pocket_watch", "recipe", "ribbon", "scissors", "seed_packet", "silver_spoon",
    "spare_key", "stamp_album", "tape_measure", "telescope", "thermometer", "umbrella", "whistle",
)  # fmt: skip

_CHINESE_PEOPLE = (
    "安琪", "白薇", "陈默", "程远", "丁晓", "杜娟", "范瑶", "冯涛", "高慧", "葛青", "贺颖", "胡兵", "江帆",
    "康丽", "雷蕾", "黎珊",
    "林悦", "柳青", "罗岚", "马骏", "孟佳", "倪红", "欧文", "潘岳", "秦朗", "邱实", "汤飞", "沈星", "石磊",
    "苏晴", "唐果", "陶莉",
    "田甜", "万芳", "魏琳", "温蓉", "夏禾", "谢婉", "徐航", "严敏", "叶舟", "尹航", "俞倩", "余婷", "袁梦",
    "岳峰", "邹静", "郑凯",
)  # fmt: skip
_CHINESE_ROOMS = (
    "面包房", "船屋", "衣帽间", "花房", "暗房", "温室", "医务室", "洗衣房", "图书室", "阁楼", "收发室", "琴房",
    "育儿室", "阅览室",
    "缝纫间", "马厩", "储藏室", "茶室", "售票处", "候车室", "织布间", "柴房", "工作间", "画室",
)  # fmt: skip
_CHINESE_CONTAINERS = (
    "蓝铁罐", "铜盆", "帆布袋", "纸板箱", "陶罐", "铜锅", "壁橱", "书桌抽屉", "搪瓷桶", "鱼篓", "玻璃柜",
    "帽盒", "铁箱", "漆盒", "皮挎包",
    "洗衣筐", "铁皮柜", "橡木桶", "野餐篮", "瓷瓶", "红板条箱", "针线盒", "鞋盒", "玩具箱", "木箱", "藤篮",
)  # fmt: skip
_CHINESE_THINGS = (
    "望远镜", "蜡烛", "棋钟", "指南针", "词典", "布娃娃", "钢笔", "手套", "口琴", "拼图块", "水壶", "灯笼",
    "信封", "放大镜", "芒果", "弹珠",
    "笔记本", "戏票", "护照", "怀表", "菜谱", "丝带", "剪刀", "花籽", "银勺", "备用钥匙", "集邮册", "卷尺",
    "温度计", "雨伞", "哨子",
)  # fmt: skip

VOCABULARIES = {
    "en": Vocabulary(PEOPLE, ROOMS, CONTAINERS, THINGS),
    "zh": Vocabulary(_CHINESE_PEOPLE, _CHINESE_ROOMS, _CHINESE_CONTAINERS, _CHINESE_THINGS),
}
