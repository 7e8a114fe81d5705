# What Python's client libraries make of the calls of libraries.mjs. Needs `pip install mcp fastmcp`.
# ruff: noqa
import asyncio
import json
import re
import sys
from importlib.metadata import version

URL = sys.argv[1]
CALLS = [
    ('Arguments as texts', 'count_parts', {'rows': '[1,2]', 'limit': '5', 'exact': 'true', 'note': None}, 'counted'),
    ('Wrong arguments', 'read_stock', {'sku': {'a': 1}}, 'sku: must be string'),
    ('Structured content', 'read_stock', {'sku': 'a'}, r'count\W+3'),
    ('A result of the official SDK', 'read_shelf', {}, r'there are four|count\W+4'),
    ('Texts and structured content', 'measure_dot', {}, 'a red dot'),
    ('A link', 'make_link', {}, r'report-7\.pdf'),
    ('A picture', 'draw_dot', {}, 'a red dot'),
    ('A text that was cut', 'print_rows', {}, 'read_more'),
    ('What was cut', 'read_more', None, 'row 42 of'),
    ('Rows that were cut', 'list_rows', {}, 'read_more'),
    ('A form', 'ask_size', {}, 'asked .*accept|Which size'),
]


async def measure(name, tools, call):
    print(f'\n## {name} {version(name)}\n- tools: {len(tools)}')
    before = ''
    for title, tool, args, expected in CALLS:
        if args is None:
            args = {'cursor': (re.search(r'cursor:? \W*([\w.-]+)', before) or ['', ''])[1]}
        try:
            before = str(await call(tool, args))
        except Exception as error:
            before = f'throws {type(error).__name__}: {error}'
        verdict = 'as meant' if re.search(expected, before, re.S) else 'not as meant'
        print(f'- {title}: {verdict}: {json.dumps(before)[:240]}')


async def mcp_client():
    from mcp import Client
    from mcp.types import ElicitResult

    async def answer(*_):
        return ElicitResult(action='accept', content={'size': 'L'})

    async with Client(URL, elicitation_callback=answer) as client:
        await measure('mcp', (await client.list_tools()).tools, client.call_tool)


async def fastmcp_client():
    from fastmcp import Client

    async def answer(*_):
        return {'size': 'L'}

    async with Client(URL, elicitation_handler=answer) as client:
        await measure('fastmcp', await client.list_tools(), client.call_tool)


for run in (mcp_client, fastmcp_client):
    try:
        asyncio.run(run())
    except Exception as error:
        print(f'- failed: {type(error).__name__}: {error}')
