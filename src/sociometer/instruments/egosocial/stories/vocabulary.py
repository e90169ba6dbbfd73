"""The names of people, rooms, containers and things from which fresh stories are made."""

PEOPLE = (
    "Adaeze", "Anouk", "Bashir", "Beatriz", "Bilal", "Birgit", "Carys", "Chidi", "Dalia", "Dmitri", "Efua", "Eleni",
    "Farid", "Femi", "Gerd", "Gulnara", "Hamza", "Hiroko", "Ilse", "Imani", "Ines", "Jarek", "Jomo", "Kalani", "Katya",
    "Kofi", "Lakshmi", "Leila", "Lerato", "Mateo", "Meilin", "Mirza", "Nadia", "Nikos", "Noor", "Odile", "Pavel",
    "Pilar", "Quang", "Ravi", "Rosalind", "Sanna", "Selma", "Tadashi", "Tamsin", "Tariq", "Thandi", "Tomasz", "Uma",
    "Viktor", "Wanjiru", "Wei", "Xiomara", "Yara", "Yusuf", "Zainab", "Zofia",
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
    "jigsaw_piece", "kettle", "lantern", "letter", "magnifying_glass", "mango", "marbles", "notebook", "opera_tickets",
    "passport", "pocket_watch", "recipe", "ribbon", "scissors", "seed_packet", "silver_spoon", "spare_key",
    "stamp_album", "tape_measure", "telescope", "thermometer", "umbrella", "whistle",
)  # fmt: skip

REMARKS = ("likes", "dislikes", "loves", "hates")
