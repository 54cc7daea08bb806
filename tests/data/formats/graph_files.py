"""Small networks in each form of file."""

from __future__ import annotations

import json

GRAPHML = """<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key attr.name="label" for="node" id="d1"/><key attr.name="Longitude" for="node" id="d2"/>
<key attr.name="Latitude" for="node" id="d3"/><graph edgedefault="undirected">
<node id="0"><data key="d1">Rome</data><data key="d2">12.5</data><data key="d3">41.9</data></node>
<node id="1"><data key="d1">None</data></node><node id="2"><data key="d1">None</data></node>
<edge source="0" target="1"/><edge source="1" target="2"/><edge source="2" target="1"/>
<edge source="2" target="2"/></graph></graphml>"""


NATIVE = """?SNDlib native format; type: network; version: 1.0
# a comment ( with brackets
NODES (
  Paris ( 2.35 48.86 )
  Lyon ( 4.84 45.76 )
)
LINKS (
  L1 ( Paris Lyon ) 0.00 0.00 0.00 115.00 ( 40.00 19.00 160.00 30.00 )
)
DEMANDS (
  D1 ( Paris Lyon ) 1 12.0 UNLIMITED
)
"""


XML = """<?xml version="1.0"?><network xmlns="http://sndlib.zib.de/network" version="1.0">
<networkStructure><nodes coordinatesType="geographical">
<node id="Paris"><coordinates><x>2.35</x><y>48.86</y></coordinates></node>
<node id="Lyon"><coordinates><x>4.84</x><y>45.76</y></coordinates></node></nodes>
<links><link id="L1"><source>Paris</source><target>Lyon</target>
<preInstalledModule><capacity>7.5</capacity><cost>0</cost></preInstalledModule></link></links>
</networkStructure><demands><demand id="D1"><source>Paris</source><target>Lyon</target>
<demandValue>9.0</demandValue></demand><demand id="D2"><source> Paris </source><target>Lyon</target>
<demandValue>3.0</demandValue></demand></demands></network>"""


def three_links(**facts: object) -> str:
    """Node-link JSON of a triangle whose links have some attributes."""
    links = [{"source": a, "target": b, **facts} for a, b in ("ab", "bc", "ac")]
    return json.dumps({"nodes": [{"id": v} for v in "abc"], "links": links})


def graphml(keys: str, *edges: str, default: str = "undirected") -> str:
    """GraphML of three nodes."""
    nodes = "".join(f'<node id="{v}"/>' for v in "abc")
    return (
        f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}'
        f'<graph edgedefault="{default}">{nodes}{"".join(edges)}</graph></graphml>'
    )
