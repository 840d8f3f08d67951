// Connection strings: those of one node and of a cluster, what is wrong with the others, and removal of credentials.
import { loadConfig } from '@paylog/runtime/config/environment'
import t from 'tap'
import { Type } from 'typebox'
import { connectionString, parseConnectionString, withoutCredentials } from './connectionString.ts'

const Variables = Type.Object({ EVENTSTORE_URL: connectionString() })
const load = (EVENTSTORE_URL: string) => loadConfig(Variables, { EVENTSTORE_URL }).EVENTSTORE_URL

t.test('connection strings of one node, of several and of a name to discover them by are accepted', async (t) => {
  const three = ['a:2113', 'b:2114', '10.0.0.3:2113']
  const login = { user: 'paylog', password: 'p@:w %' }
  const accepted: Record<string, [hosts: readonly string[], isCluster: boolean, credentials?: object]> = {
    'esdb://one': [['one:2113'], false],
    ' esdb://one:1234/?tls=false ': [['one:1234'], false],
    'esdb://a,b:2114,10.0.0.3:2113': [three, true],
    'esdb://paylog:p%40%3Aw%20%25@a:2113,b:2114,10.0.0.3:2113?tls=true': [three, true, login],
    'esdb+discover://paylog:p%40%3Aw%20%25@store.example.com': [['store.example.com:2113'], true, login],
    'esdb://u:p?w&x=1@127.0.0.1:1?tls=false': [['127.0.0.1:1'], false, { user: 'u', password: 'p?w&x=1' }],
    'esdb://u:p@127.0.0.1:1,localhost:2?tls=false': [
      ['127.0.0.1:1', 'localhost:2'],
      true,
      { user: 'u', password: 'p' },
    ],
  }
  for (const [text, [hosts, isCluster, credentials]] of Object.entries(accepted)) {
    t.match(parseConnectionString(text), { hosts, isCluster, credentials }, text)
    t.equal(load(text), text)
  }
})

t.test('every option of the client is accepted, in any spelling that the client accepts', async (t) => {
  const options = [
    'tls=true&throwOnAppendFailure=true',
    'TLS=false&keep-alive-interval=10000&keep_alive_timeout=-1',
    'maxDiscoverAttempts=3&discoveryInterval=100&gossipTimeout=3&nodePreference=read-only-replica&defaultDeadline=10000',
    `connectionName=pay%20log&tlsCAFile=${encodeURIComponent(import.meta.filename)}`,
  ]
  for (const option of options)
    t.equal(parseConnectionString(`esdb://a,b?${option}`).options.size, option.split('&').length)
})

t.test('what is wrong is said in one line, with the variable and the part, and without the password', async (t) => {
  const host = 'which must be a name or an IPv4 address, with a port from 1 to 65535'
  const refused: Record<string, string> = {
    'postgres://paylog:s3cret@a:2113': 'must begin with esdb:// or esdb+discover://',
    'esdb:/paylog:s3cret@a': 'must begin with esdb:// or esdb+discover://',
    'esdb://': `has a mistake in its host, ${host}`,
    'esdb://paylog:s3cret@?tls=true': `has a mistake in its host, ${host}`,
    'esdb://paylog:s3cret@a:2113,b:21x3,c:2113': `has a mistake in host 2 of 3, ${host}`,
    'esdb://a,,c': `has a mistake in host 2 of 3, ${host}`,
    'esdb://a,b:70000': `has a mistake in host 2 of 2, ${host}`,
    'esdb://a,b:0': `has a mistake in host 2 of 2, ${host}`,
    'esdb://[::1]:2113': `has a mistake in its host, ${host}`,
    'esdb://a/b': `has a mistake in its host, ${host}`,
    'esdb://paylog:s3c:ret@a,b': 'has a : in its password, which must be written as %3A',
    'esdb://paylog:s3c@ret@a,b': 'has an @ in its password, which must be written as %40',
    'esdb://paylog:s3c%ret@a,b': 'has a % in its user or password that must be written as %25',
    'esdb://paylog:s3cret@a,b?tls=false&colour=red': 'has an option that the client does not support: colour',
    'esdb://paylog:s3cret@a?tlsVerifyCert=false': 'has an option that the client does not support: tlsVerifyCert',
    'esdb://a?tls=yes': 'has an option tls that must be true or false',
    'esdb://a?tls': 'has an option tls that must be true or false',
    'esdb://a?gossipTimeout=5s': 'has an option gossipTimeout that must be a whole number',
    'esdb://a?nodePreference=fastest':
      'has an option nodePreference that must be leader, follower, readOnlyReplica or random',
    'esdb://a?tlsCAFile=/none/ca.crt': 'has an option tlsCAFile that must be the path of a file that can be read',
  }
  for (const [text, message] of Object.entries(refused)) {
    t.throws(() => load(text), { message: `Bad configuration: EVENTSTORE_URL ${message}` }, text)
  }
})

t.test('credentials are sent to other machines with TLS only', async (t) => {
  const elsewhere = ['store.example.com:2113', '192.0.2.1:2113', '127.0.0.1.example.com:1', '0.0.0.0:1']
  const message = (places: string) =>
    `Bad configuration: EVENTSTORE_URL would send its credentials without encryption to ${places}: use tls=true, or leave them out`
  for (const place of elsewhere) {
    for (const hosts of [place, `127.0.0.1,${place}`])
      t.throws(() => load(`esdb://paylog:s3cret@${hosts}?tls=false`), { message: message(place) })
    t.ok(load(`esdb://paylog:s3cret@${place},b?tls=true`))
    t.ok(load(`esdb://${place},b?tls=false`))
  }
  const discovered = 'esdb+discover://paylog:s3cret@localhost:1?tls=false'
  t.throws(() => load(discovered), { message: message('localhost:1') }, 'the members may be anywhere')
})

t.test('withoutCredentials removes user, password and options', async (t) => {
  const shown = {
    'esdb://admin:changeit@one:2113,two:2113?tls=true': 'esdb://one:2113,two:2113',
    'esdb://admin:se/c?r:et@one:2113/?tls=true': 'esdb://one:2113',
    'esdb+discover://one': 'esdb+discover://one',
    'no connection string': '',
  }
  for (const [given, expected] of Object.entries(shown)) t.equal(withoutCredentials(given), expected)
})
