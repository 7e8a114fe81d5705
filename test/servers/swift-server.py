# OpenStack Swift with its S3 interface in one process: a proxy, and one account, container and object server.
# The first argument is an empty folder. Prints the port of the proxy, and ends when standard input ends.

import array
import os
import sys

from swift.common import utils

utils.eventlet_monkey_patch()

import eventlet
import eventlet.hubs
import eventlet.wsgi
from swift.common.ring import RingData
from swift.common.wsgi import SwiftHttpProtocol, loadapp

FOLDER = sys.argv[1]

# Objects are in memory: a folder would need a file system with extended attributes.
STORAGE_SERVERS = {'account': 'account', 'container': 'container', 'object': 'mem_object'}

DEFAULT = f'''
[DEFAULT]
swift_dir = {FOLDER}
devices = {FOLDER}
mount_check = false
log_level = ERROR
'''

PROXY = '''
[pipeline:main]
pipeline = catch_errors gatekeeper s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:s3api]
use = egg:swift#s3api
location = eu-central-1
max_bucket_listing = 10
[filter:tempauth]
use = egg:swift#tempauth
user_test_trivet = secret .admin
[filter:slo]
use = egg:swift#slo
'''


class Cache:
    """Stands in for memcached."""

    def __init__(self):
        self.values = {}

    def get(self, key, **_):
        return self.values.get(key)

    def set(self, key, value, **_):
        self.values[key] = value

    def delete(self, key, **_):
        self.values.pop(key, None)


def write(name, text):
    path = os.path.join(FOLDER, name)
    with open(path, 'w') as file:
        file.write(text)
    return path


def listen():
    socket = eventlet.listen(('127.0.0.1', 0))
    return socket, socket.getsockname()[1]


def serve(socket, app):
    eventlet.spawn(eventlet.wsgi.server, socket, app, utils.NullLogger(),
                   protocol=SwiftHttpProtocol, capitalize_response_headers=False)


def start_storage_server(ring, app):
    socket, port = listen()
    device = {'id': 0, 'region': 1, 'zone': 1, 'weight': 1, 'device': 'device',
              'ip': '127.0.0.1', 'port': port, 'replication_ip': '127.0.0.1', 'replication_port': port}
    # One partition on one device.
    RingData([array.array('H', [0])], [device], 32).save(os.path.join(FOLDER, f'{ring}.ring.gz'))
    serve(socket, loadapp(write(f'{ring}.conf', f'{DEFAULT}[app:main]\nuse = egg:swift#{app}\n')))


def start_proxy():
    app = loadapp(write('proxy.conf', DEFAULT + PROXY))
    cache = Cache()

    def app_with_cache(environment, start_response):
        environment['swift.cache'] = cache
        return app(environment, start_response)

    socket, port = listen()
    serve(socket, app_with_cache)
    return port


os.mkdir(os.path.join(FOLDER, 'device'))
write('swift.conf', '[swift-hash]\nswift_hash_path_suffix = test\n')
utils.set_swift_dir(FOLDER)
utils.get_logger({}, log_to_console=True)
for ring, app in STORAGE_SERVERS.items():
    start_storage_server(ring, app)
print(start_proxy(), flush=True)
eventlet.hubs.trampoline(sys.stdin.fileno(), read=True)
