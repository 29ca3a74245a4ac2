"""Numbers that the five papers print, for tables.py to set ours beside. No numbers of ours here."""

# Pichler 2020, tables 8.2 and 8.3: milliseconds with the search of the start node, where the table has it.
RCM_BANDWIDTH = {"given": 1894257, "cuSolver": 10193, "CPU-GPU": 10199, "MHive": 10241}  # G3_circuit
RCM = {  # matrix: cuSolver, CPU-GPU, TSK, PDC
    "bcsstk32": (140.02, 19.01, 94.13, 23.45), "bmw3_2": (978.20, 117.36, 297.96, 88.17),
    "d_pretok": (133.30, 68.14, 269.90, 63.20), "F1": (2330.20, 188.48, 429.19, 150.28),
    "filter3D": (206.10, 59.97, 163.33, 49.82), "gsm_106857": (2202.70, 402.87, 671.74, 311.84),
    "inline_1": (2943.60, 293.87, 776.41, 241.52), "mario001": (15.80, 23.84, 242.89, 41.64),
    "msdoor": (1742.20, 240.02, 705.97, 197.22), "offshore": (515.00, 147.50, 304.53, 121.86),
    "SiO2": (1060.80, 114.72, 199.94, 90.97), "CurlCurl_4": (2223.80, 703.05, 1679.09, 614.94),
    "dielFilterV2real": (3843.50, 414.90, 1058.19, 369.26), "dielFilterV3real": (7108.30, 524.12, 954.90, 442.42),
    "Dubcova3": (297.60, 49.16, 213.73, 54.64), "G3_circuit": (864.40, 480.80, 1954.58, 441.90),
    "nlpkkt80": (2534.60, 385.34, 819.41, 290.66), "com-Youtube": (856.90, 423.87, 469.59, 368.85),
    "thermomech_TC": (73.90, 110.47, 472.44, 116.51)}
RCM_PERMUTATION = {"CPU-GPU": 347.20, "TSK": 1820.98, "PDC": 308.30}  # G3_circuit, without the search

# Pichler 2020, tables 8.5 to 8.7, milliseconds. Kernel by kernel is the same column in all three.
JACOBI_FORMS = ("stages-phases", "stages", "checkpoints", "autonomous")
JACOBI_KERNELS = {
    "Chem97ZtZ": 29.51, "A3": 35.75, "A4": 38.19, "A6": 54.96, "A5": 57.02, "finan512": 86.71, "G2_circuit": 117.11,
    "Andrews": 83.63, "parabolic_fem": 451.44, "G3_circuit": 1220.22, "thermal2": 979.47}
JACOBI = {  # scheduler: matrix: the four forms
    "timesliced": {
        "Chem97ZtZ": (218.50, 94.85, 55.57, 52.99), "A3": (218.98, 94.11, 55.97, 51.14),
        "A4": (219.91, 93.35, 57.39, 53.82), "A6": (232.87, 106.07, 76.29, 72.87), "A5": (236.98, 106.90, 80.50, 80.62),
        "finan512": (248.81, 118.82, 86.17, 86.97), "G2_circuit": (306.45, 177.30, 121.10, 120.39),
        "Andrews": (248.06, 120.05, 95.70, 92.66), "parabolic_fem": (695.28, 559.85, 361.29, 364.23),
        "G3_circuit": (1691.58, 1555.78, 923.12, 908.72), "thermal2": (1367.44, 1227.62, 818.56, 775.18)},
    "megakernel": {
        "Chem97ZtZ": (None, 8.13, 9.79, 15.80), "A3": (None, 12.66, 14.72, 19.34), "A4": (None, 16.09, 19.63, 24.78),
        "A6": (None, 32.75, 32.89, 33.47), "A5": (None, 32.19, 36.47, 36.66), "finan512": (None, 59.98, 58.84, 50.72),
        "G2_circuit": (None, 122.77, 109.45, 75.48), "Andrews": (None, 63.03, 56.83, 49.62),
        "parabolic_fem": (None, 496.88, 445.17, 316.30), "G3_circuit": (None, 1469.36, 1255.75, 879.23),
        "thermal2": (None, 1210.80, 1039.89, 753.86)},
    "controller": {
        "Chem97ZtZ": (39.59, 48.53, 33.41, 31.80), "A3": (43.80, 52.27, 38.45, 36.74), "A4": (35.80, 41.82, 41.22, 41.03),
        "A6": (55.27, 61.04, 57.07, 56.64), "A5": (61.73, 66.48, 61.97, 61.55), "finan512": (80.57, 84.63, 47.50, 44.98),
        "G2_circuit": (148.46, 157.64, 72.18, 72.02), "Andrews": (89.12, 93.95, 76.40, 76.25),
        "parabolic_fem": (518.24, 502.92, 293.25, 299.47), "G3_circuit": (1451.40, 1379.06, 792.84, 818.09),
        "thermal2": (1179.87, 1106.22, 692.55, 717.00)}}

JACOBI_HERE = {  # of table 8.4, what stands for them here
    "Chem97ZtZ": "Chem97ZtZ", "A3": "dominant 10k 110k", "A4": "dominant 10k 210k", "A6": "dominant 32k 432k",
    "A5": "dominant 20k 540k", "finan512": "finan512_lapI", "Andrews": "Andrews", "parabolic_fem": "parabolic_fem_rebuilt",
    "G3_circuit": "G3_circuit"}

# Equations 8.2 and 8.3: bytes of fixed memory, for each entry, for each row.
MEMORY = {"8.2": (48e6, 8, 28), "8.3": (64e6, 8, 1040)}

# Böhnlein et al. 2025. Algorithms by the names that their variants have in the rows of taskdag_host_schedules.
BARRIER_NAMES = {"locking": "Funnel Locking", "locking, no Funnel": "Locking", "pivotal-path": "Funnel p-ivotal path",
                 "pivotal-path, no Funnel": "p-ivotal path", "p2p": "SpMP", "hdagg": "HDagg"}
BARRIER_SETS = {"real": "real matrices", "erdos-renyi": "Erdős–Rényi", "narrow-band": "narrow band"}
BARRIER_SPEEDUP = {  # table 7.1, 22 cores of the Intel machine
    "real": (10.70, 9.35, 10.44, 9.27, 7.39, 3.30),
    "erdos-renyi": (14.08, 14.09, 14.92, 15.00, 9.23, 7.96),
    "narrow-band": (2.79, 2.40, 3.25, 2.53, 4.37, 1.09)}
BARRIER_SUPERSTEPS = {  # table 7.3
    "real": (14.00, 9.63, 13.26, 9.76, None, 1.24),
    "erdos-renyi": (2.75, 2.74, 3.29, 3.26, None, 1.25),
    "narrow-band": (4.53, 4.01, 6.08, 4.01, None, 1.10)}
BARRIER_CORES = {8: (3.40, 3.31), 16: (5.24, 5.11)}  # table 7.6, AMD, Funnel Locking and Funnel p-ivotal path
BARRIER_AMORTISATION = (  # table 7.7, quartiles
    (740.96, 870.26, 1158.46), (83.58, 111.36, 176.16), (731.91, 867.67, 1047.27), (52.14, 63.92, 120.73),
    (4.91, 6.44, 8.93), (489.88, 1306.06, 2065.96))
BARRIER_MATRICES = {"real": 33, "erdos-renyi": 30, "narrow-band": 30}
BARRIER_LEAST_FLOPS, BARRIER_LEAST_WAVEFRONT = 2e6, 44
BARRIER_NARROW_ON_8 = (4.16, 3.87, 4.60, 4.36, 3.67, 1.96)  # table 7.2, speed-ups as in table 7.1
BARRIER_NOT_REORDERED = {  # table 7.4
    "real": (7.86, 7.36, 7.42, 7.03), "erdos-renyi": (8.91, 8.95, 9.10, 9.10), "narrow-band": (3.19, 2.64, 3.20, 2.69)}
BARRIER_SCALING = {  # table 7.6: cores: Funnel Locking, Funnel p-ivotal path
    2: (1.86, 1.85), 4: (2.92, 2.89), 8: (3.40, 3.31), 16: (5.24, 5.11)}

# Helal et al. 2019: CA over level sets and self-scheduling, text of section IV-B; Vega FE, then R9 Nano where it says so.
ATA_PULL, ATA_PUSH, ATA_ILU = ("3.0", "3.3"), ("3.3", "3.7"), ("2.2",)
ATA_AGGREGATION = {"CA": 18, "LA": 22, "most": 100}  # figure 10, milliseconds
ATA_PCG = {"level-launch": "4.4", "self": "8.9"}  # figure 11
ATA_PCG_SHARE = "76 to 99"  # percent of the time in solves and factorisation

# Chen et al. 2022, table 1: speed over bulk synchronous; table 4: work. Three scale-free graphs, then two road networks.
ATOS_SPEEDUP = {
    "bfs": {"persist warp": (0.68, 0.75, 0.84, 1.84, 1.41), "persist CTA": (1.23, 1.48, 1.65, 12.8, 12.8),
            "discrete CTA": (1.42, 2.02, 1.79, 3.46, 3.58)},
    "pagerank": {"persist warp": (1.68, 1.08, 1.88, 1.30, 1.26), "persist CTA": (2.31, 1.27, 3.02, 1.81, 2.03),
                 "discrete CTA": (2.25, 1.20, 3.20, 1.95, 2.47)},
    "colouring": {"persist warp": (4.71, 2.4, 9.08, 0.74, 2.18), "persist CTA": (2.67, 1.31, 3.65, 1.97, 2.58),
                  "discrete warp": (1.52, 0.28, 0.32, 0.46, 0.75)}}
ATOS_WORK = {
    "bfs": {"persist warp": (1.43, 2.26, 1.28, 3.56, 2.05), "persist CTA": (1.06, 1.19, 1.00, 1.05, 1.02),
            "discrete CTA": (1.01, 1.07, 1.00, 1.04, 1.04)},
    "pagerank": {"persist warp": (0.73, 1.08, 0.76, 0.79, 1.18), "persist CTA": (0.72, 1.18, 0.73, 0.79, 1.11),
                 "discrete CTA": (0.72, 0.9, 0.75, 0.92, 0.97)},
    "colouring": {"BSP": (1.17, 3.31, 1.96, 1.22, 2.55), "persist warp": (1.00, 1.15, 1.04, 1.00, 1.00),
                  "persist CTA": (1.74, 5.24, 4.45, 1.46, 1.74), "discrete warp": (2.78, 37.34, 16.97, 1.41, 2.44)}}
ATOS_SCALE_FREE = 3  # the first three columns
# The table of section 6.4: milliseconds of the colouring of the scale-free graphs, as numbered and permuted.
ATOS_PERMUTED = {"discrete warp": ((63, 31), (274, 26), (2073, 222)), "persist CTA": ((36, 21), (59, 28), (184, 50)),
                 "BSP": ((96, 89), (77, 61), (673, 485))}
# Table 1, milliseconds: bulk synchronous, then the fastest of Atos, on the graphs of 20 million edges and more.
ATOS_MS = {
    "bfs": {"soc-LiveJournal1": (15.3, 10.7), "hollywood_2009": (9.26, 4.56), "indochina_2004": (13.2, 7.42), "road_usa": (604, 46.9)},
    "pagerank": {"soc-LiveJournal1": (262, 113), "hollywood_2009": (87.1, 68.5), "indochina_2004": (159, 49.6), "road_usa": (221, 112)},
    "colouring": {"soc-LiveJournal1": (96.5, 20.4), "hollywood_2009": (77.9, 31.9), "indochina_2004": (673, 74.1),
                  "road_usa": (38.2, 19.3)}}
# Section 6.4, of the colouring: registers, occupancy in percent.
ATOS_REGISTERS = {"persist warp": (72, 43), "discrete warp": (42, 62)}
ATOS_CHALLENGES = {  # table 3
    "bfs": {"scale-free": "load imbalance", "mesh": "small frontier"}, "pagerank": {"scale-free": "load imbalance", "mesh": "none"},
    "colouring": {"scale-free": "load imbalance + small frontier", "mesh": "none"}}
ATOS_HEADLINE = {"bfs": 3.44, "pagerank": 2.1, "colouring": 2.77}
