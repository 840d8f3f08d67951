import { execFile } from 'node:child_process'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { commandVariables } from '@paylog/command-api/config'
import { queryVariables } from '@paylog/query-api/config'
import { apiVariables } from '@paylog/runtime/http/apiServer'
import { processVariables } from '@paylog/runtime/process/lifecycle'
import { tracingVariables } from '@paylog/runtime/telemetry/tracing'
import { workerVariables } from '@paylog/worker/config'
import t from 'tap'
import { type ComposeService, missingProgram, readCompose, root } from './testing/composeFile.ts'

const run = promisify(execFile)
const logged = ['EVENTSTORE_URL', 'DATABASE_URL', 'HOST', 'HEALTH_PORT']
const everywhere = Object.keys({ ...processVariables, ...tracingVariables })
/** What each app understands. */
const variables: Readonly<Record<string, readonly string[]>> = {
  'command-api': [...everywhere, ...Object.keys({ ...apiVariables, ...commandVariables })],
  'query-api': [...everywhere, ...Object.keys({ ...apiVariables, ...queryVariables })],
  docs: [...everywhere, ...Object.keys(apiVariables)],
  projector: [...everywhere, ...logged],
  worker: [...everywhere, ...Object.keys(workerVariables)],
}

const missing = await missingProgram('docker-compose')
if (missing !== undefined) t.comment(`NOT TESTED: ${missing}, so the compose files are not read`)
else {
  t.test('docker-compose accepts every combination without a variable or a secret', async (t) => {
    for (const files of [[], ['trial'], ['cluster'], ['trial', 'cluster']])
      t.ok(Object.keys((await readCompose(files)).services).includes('command-api'), `with ${files}`)
  })

  t.test('an operator can set every variable of every app', async (t) => {
    const { services } = await readCompose([])
    for (const [name, expected] of Object.entries(variables)) {
      const given = Object.keys(services[name]?.environment ?? {})
      const absent = expected.filter((variable) => !given.includes(variable) && !given.includes(`${variable}_FILE`))
      t.same(absent, [], `${name} is told all that it understands`)
    }
    const set = await readCompose([], { STRIPE_SECRET_KEY_FILE: '/run/paylog/key', AUTH_URL: 'http://a.example' })
    t.match(set.services['command-api']?.environment, {
      STRIPE_SECRET_KEY_FILE: '/run/paylog/key',
      AUTH_URL: 'http://a.example',
      RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '300',
    })
  })

  t.test('only the edge can be reached, and on this machine alone until told otherwise', async (t) => {
    for (const files of [[], ['trial'], ['cluster']]) {
      const { services } = await readCompose(files)
      const published = Object.entries(services).filter(([, { ports = [] }]) => ports.length > 0)
      t.same(
        published.map(([name]) => name),
        ['edge'],
      )
      for (const port of published[0]?.[1].ports ?? []) t.match(JSON.stringify(port), /127\.0\.0\.1/)
      const stores = { eventstore: 'log', 'eventstore-2': 'log', postgres: 'sql', redis: 'queue' }
      for (const [name, network] of Object.entries(stores))
        t.same(Object.keys(services[name]?.networks ?? { [network]: {} }), [network], name)
      t.same(Object.keys(services['query-api']?.networks ?? {}).sort(), ['edge', 'queue', 'sql'], 'sees no log')
    }
  })

  t.test('nothing of the demo is there unless it was asked for', async (t) => {
    const { services } = await readCompose([])
    t.notOk('identity' in services)
    for (const { environment = {} } of Object.values(services)) t.notOk(environment.SANDBOX_PROVIDER)
    t.match((await readCompose(['trial'])).services.worker?.environment, { SANDBOX_PROVIDER: 'true' })
  })

  t.test('whoever only reads has no secret but its own', async (t) => {
    const { services } = await readCompose([])
    const secretsOf = ({ secrets = [] }: Partial<ComposeService> = {}) => secrets.map(({ source }) => source)
    t.same(secretsOf(services['query-api']), ['query_database_url'])
    t.same(secretsOf(services['command-api']), [])
    t.same(secretsOf(services.docs), [])
    for (const name of ['query-api', 'docs', 'projector']) t.notMatch(JSON.stringify(services[name]), /run\/paylog/)
  })

  t.test('everything that stays has a health check', async (t) => {
    const { services } = await readCompose(['trial', 'cluster'])
    const without = Object.entries(services).filter(([, { healthcheck }]) => healthcheck === undefined)
    t.same(without.map(([name]) => name).sort(), ['certificates', 'migrate', 'ops'])
  })
}

t.test('secrets are made once, random, and closed to others', async (t) => {
  const directory = join(t.testdir({}), 'secrets')
  const make = () => run('deploy/makeSecrets.sh', [directory], { cwd: root })
  const read = (name: string) => readFileSync(join(directory, name), 'utf8')
  await make()
  t.match(read('query_password'), /^[0-9a-f]{48}$/)
  t.not(read('query_password'), read('database_password'))
  t.equal(read('database_url'), `postgres://paylog:${read('database_password')}@postgres:5432/paylog`)
  t.equal(read('query_database_url'), `postgres://paylog_query:${read('query_password')}@postgres:5432/paylog`)
  t.equal(statSync(directory).mode & 0o777, 0o700)
  t.equal(statSync(join(directory, 'query_password')).mode & 0o777, 0o644, 'the containers have users of their own')
  chmodSync(join(directory, 'database_url'), 0o600)
  writeFileSync(join(directory, 'database_url'), 'postgres://elsewhere')
  const password = read('query_password')
  const { stdout } = await make()
  t.match(stdout, 'database_url is there already and stays as it is')
  t.same([read('database_url'), read('query_password')], ['postgres://elsewhere', password])
})
