// Connection strings: supported options, and removal of credentials.
import t from 'tap'
import { connect } from './connection.ts'
import { withoutCredentials } from './connectionString.ts'

t.test('an unsupported option is rejected by name, without printing the connection string', async (t) => {
  const printed = t.capture(console, 'warn')
  for (const option of ['colour', 'tlsVerifyCert']) {
    t.throws(() => connect(`esdb://u:secret@one:1?${option}=false`), {
      message: `The event store's connection string has an option that the client does not support: ${option}`,
    })
  }
  for (const address of ['esdb://u:secret@one:1', 'esdb://u:se?c&ret=1@one:1,two:2', 'esdb+discover://one:1/']) {
    t.throws(() => connect(`${address}?tls=false&colour=red`), { message: /does not support: colour$/ })
  }
  t.same(printed(), [])
})

t.test('every option of the client is accepted, in any spelling that the client accepts', async (t) => {
  const printed = t.capture(console, 'warn')
  const options = [
    'tls=true&throwOnAppendFailure=true',
    'TLS=false&keep-alive-interval=10000&keep_alive_timeout=10000',
    'maxDiscoverAttempts=3&discoveryInterval=100&gossipTimeout=3&nodePreference=leader&defaultDeadline=10000',
    'connectionName=paylog',
  ]
  for (const option of options) await connect(`esdb://u:p?w&x=1@127.0.0.1:1?${option}`).close()
  await connect('esdb://one').close()
  t.same(printed(), [])
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
