# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
from typing import Dict, List

TAG: str
LEFT_OUT: Dict[str, str]
NEEDS: Dict[str, List[str]]
