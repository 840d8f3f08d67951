import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv, promisify } from 'node:util'
import { openNote, parseSigningKey, parseVerifierKey, signNote } from '@paylog/audit-log/note'
import { maxAppendBytes } from '@paylog/event-store/append/append'
import { parseConnectionString } from '@paylog/event-store/connection/connectionString'
import { demoRights } from '@paylog/identity/sandboxIdentity'
import { freePort } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { appVariables } from './testing/appVariables.ts'
import { type ComposeService, missingProgram, readCompose, root } from './testing/composeFile.ts'
import { createContainer } from './testing/container.ts'

const run = promisify(execFile)
const small = ['small']
const missing = await missingProgram('docker-compose')
if (missing !== undefined) t.comment(`NOT TESTED: ${missing}, the compose files are not read`)
else {
  const { DOCKER_COMPOSE_2: second } = process.env
  if (second === undefined) t.comment('NOT TESTED: DOCKER_COMPOSE_2 names no Compose 2, which is not asked')
  for (const client of ['docker-compose', ...(second === undefined ? [] : [second])]) {
    t.test(`${client} accepts every combination of files with AUTH_URL alone, without secrets`, async (t) => {
      for (const files of [
        [],
        ['trial'],
        ['cluster'],
        ['trial', 'cluster'],
        ['eventstoredb'],
        ['archive'],
        small,
        ['small', 'small-trial'],
      ])
        t.ok(Object.keys((await readCompose(files, {}, client)).services).includes('worker'), `with ${files}`)
    })

    t.test(`${client} refuses an empty AUTH_URL and says what to set`, async (t) => {
      const refused = /set it in \.env to the address of your identity backend/
      for (const files of [[], small]) await t.rejects(readCompose(files, { AUTH_URL: '' }, client), refused)
    })
  }

  t.test('the compose files pass on every variable of every app', async (t) => {
    const { services } = await readCompose([])
    for (const [name, expected] of Object.entries(appVariables)) {
      const given = Object.keys(services[name]?.environment ?? {})
      const absent = Object.keys(expected).filter(
        (variable) => !given.includes(variable) && !given.includes(`${variable}_FILE`),
      )
      t.same(absent, [], `${name} gets all of its variables`)
    }
    const set = await readCompose([], { STRIPE_SECRET_KEY_FILE: '/run/paylog/key', AUTH_URL: 'http://a.example' })
    t.match(set.services['command-api']?.environment, {
      STRIPE_SECRET_KEY_FILE: '/run/paylog/key',
      AUTH_URL: 'http://a.example',
      MAX_CONNECTIONS: '10000',
    })
  })

  t.test('only the edge publishes ports, by default on the loopback interface', async (t) => {
    for (const files of [[], ['trial'], ['cluster'], small]) {
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
      t.same(
        Object.keys(services['query-api']?.networks ?? { edge: {}, queue: {}, sql: {} }).sort(),
        ['edge', 'queue', 'sql'],
        'has no access to the log',
      )
    }
  })

  t.test('the demo identity and sandbox exist only with the trial file', async (t) => {
    for (const [files, trial] of [
      [[], ['trial']],
      [small, ['small', 'small-trial']],
    ] as const) {
      const { services } = await readCompose(files)
      t.notOk('identity' in services)
      for (const { environment = {} } of Object.values(services)) t.notOk(environment.SANDBOX_PROVIDER)
      t.match((await readCompose(trial)).services.worker?.environment, { SANDBOX_PROVIDER: 'true' })
    }
  })

  t.test('the demo users of the trials have the rights of local mode', async (t) => {
    for (const [file, app] of [
      ['trial', 'operator-api'],
      ['small-trial', 'api'],
    ] as const) {
      const set = parseEnv(readFileSync(new URL(`env.${file}`, import.meta.url), 'utf8'))
      t.equal(set.RIGHTS, demoRights, file)
      const files = set.COMPOSE_FILE?.split(':').flatMap((name) => /\.([\w-]+)\.yml$/.exec(name)?.[1] ?? []) ?? []
      const { services } = await readCompose(files, { RIGHTS: set.RIGHTS ?? '' })
      t.equal(services[app]?.environment?.RIGHTS, demoRights, file)
    }
  })

  t.test('every secret is mounted only where it is used', async (t) => {
    const { services } = await readCompose([])
    const secretsOf = ({ secrets = [], volumes = [] }: ComposeService) =>
      [
        ...secrets.map(({ source }) => source),
        ...volumes.flatMap((volume) => /secrets\/\w+/.exec(volume)?.[0] ?? []),
      ].sort()
    const log = ['eventstore_ca', 'eventstore_url']
    t.same(Object.fromEntries(Object.entries(services).map(([name, service]) => [name, secretsOf(service)])), {
      eventstore: [
        'eventstore_admin_password',
        'eventstore_ca',
        'eventstore_certificate',
        'eventstore_key',
        'eventstore_ops_password',
      ],
      grant: ['eventstore_admin_url', ...log],
      postgres: ['command_password', 'database_password', 'postgres_password', 'query_password'],
      redis: ['redis_acl'],
      migrate: ['database_url'],
      'command-api': ['command_database_url', ...log, 'pii_master_key', 'redis_url', 'secrets/app'],
      'query-api': ['query_database_url', 'redis_url'],
      'operator-api': ['database_url', ...log, 'pii_master_key', 'redis_url', 'secrets/app'],
      projector: ['audit_signing_key', 'database_url', ...log, 'pii_master_key', 'secrets/audit'],
      worker: ['database_url', ...log, 'pii_master_key', 'redis_url', 'secrets/app', 'secrets/webhooks'],
      edge: [],
      ops: ['audit_verifier_key', 'database_url', ...log, 'pii_master_key', 'redis_url', 'secrets/app'],
    })
  })

  t.test('the projector remembers what it signed in a volume, and ops can end it there', async (t) => {
    const directory = '/var/lib/paylog'
    for (const files of [[], small]) {
      const { services } = await readCompose(files)
      for (const name of ['projector', 'ops']) {
        t.equal(services[name]?.environment?.AUDIT_STATE_FILE, `${directory}/audit-state`)
        t.ok(
          services[name]?.volumes?.some((volume) => volume.startsWith(`audit-state:${directory}:`)),
          name,
        )
      }
    }
    t.match(readFileSync(join(root, 'Dockerfile'), 'utf8'), new RegExp(`chown node:node .*${directory}`))
  })

  t.test('every container has minimal privileges and resource limits', async (t) => {
    const { services } = await readCompose(['trial', 'cluster'])
    t.ok(Object.keys(services).length >= 15)
    const added: Record<string, readonly string[]> = {}
    const ofSmall = Object.entries((await readCompose(['small', 'small-trial'])).services)
    for (const [name, service] of [...Object.entries(services), ...ofSmall]) {
      t.same(service.cap_drop, ['ALL'], `${name} drops all capabilities`)
      t.same(service.security_opt, ['no-new-privileges:true'], `${name} gains no privileges`)
      t.equal(service.read_only, true, `${name} writes to volumes and memory only`)
      t.ok(service.mem_limit && service.pids_limit, `${name} has limits`)
      if (service.cap_add !== undefined) added[name] = service.cap_add
    }
    t.same(added, { edge: ['NET_BIND_SERVICE'] })
    t.match(
      [services.postgres?.user, services.redis?.user],
      ['postgres', 'redis'],
      'the images of the others set a user',
    )
  })

  t.test('every third-party image has an exact version and can be set by digest', async (t) => {
    const { services } = await readCompose(['cluster'])
    const ours = 'paylog:latest'
    const foreign = Object.values(services).flatMap(({ image }) => (image === ours ? [] : [image]))
    for (const image of foreign) t.match(image, /^[\w./-]+:\d+\.\d+(\.\d+)?$/)
    const digest = `@sha256:${'0'.repeat(64)}`
    const names = ['EVENTSTORE', 'POSTGRES', 'REDIS', 'CADDY', 'NODE'].map((name) => `${name}_IMAGE`)
    const pinned = await readCompose(['cluster'], Object.fromEntries(names.map((name) => [name, `${name}${digest}`])))
    for (const { image } of Object.values(pinned.services)) t.ok(image === ours || image.endsWith(digest), image)
    const [, inDockerfile] = /^ARG NODE_IMAGE=(.*)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? []
    t.match(JSON.stringify(services.worker), `"NODE_IMAGE":"${inDockerfile}"`, 'with and without compose')
  })

  t.test('the event store has variables, files and volumes where its image looks for them', async (t) => {
    const servers = [
      { files: [], prefix: 'KURRENTDB', program: '/opt/kurrentdb/KurrentDB' },
      { files: ['eventstoredb'], prefix: 'EVENTSTORE', program: '/opt/eventstore/EventStore.ClusterNode' },
    ]
    for (const { files, prefix, program } of servers) {
      const {
        environment = {},
        entrypoint = [],
        volumes = [],
        secrets = [],
      } = (await readCompose(files)).services.eventstore ?? {}
      const script = entrypoint.at(-1) ?? ''
      t.match(
        script,
        new RegExp(`export ${prefix}_DEFAULT_ADMIN_PASSWORD ${prefix}_DEFAULT_OPS_PASSWORD\nexec ${program}`),
      )
      const directory = environment[`${prefix}_DB`] ?? '/var/lib/kurrentdb'
      t.ok(
        volumes.some((volume) => volume.startsWith(`eventstore-data:${directory}:`)),
        `${volumes}`,
      )
      const ca = secrets.find(({ source }) => source === 'eventstore_ca')
      t.equal(ca?.target, `${environment[`${prefix}_TRUSTED_ROOT_CERTIFICATES_PATH`]}/ca.crt`)
    }
    const { services } = await readCompose(['cluster'])
    for (const name of ['eventstore', 'eventstore-2', 'eventstore-3'])
      t.match(services[name]?.environment, { KURRENTDB_NODE_HOST_ADVERTISE_AS: name, KURRENTDB_CLUSTER_SIZE: '3' })
  })

  t.test('KurrentDB accepts the largest append of Paylog', async (t) => {
    const { environment = {} } = (await readCompose([])).services.eventstore ?? {}
    for (const name of ['KURRENTDB_MAX_APPEND_SIZE', 'KURRENTDB_MAX_APPEND_EVENT_SIZE'])
      t.ok(Number(environment[name]) >= maxAppendBytes, name)
  })

  t.test('the small form passes on what the large one does, in five containers and 1 GiB', async (t) => {
    const { services } = await readCompose(small)
    const once = ['migrate', 'ops']
    const staying = Object.entries(services).filter(([name]) => !once.includes(name))
    t.same(staying.map(([name]) => name).sort(), ['api', 'edge', 'postgres', 'projector', 'worker'])
    const mebibytes = staying.map(([, { mem_limit: limit = '' }]) => Number(/^(\d+)m$/.exec(limit)?.[1]))
    t.ok(mebibytes.reduce((sum, each) => sum + each) <= 1024, `${mebibytes}`)
    t.same(
      staying.filter(([, { healthcheck }]) => healthcheck === undefined),
      [],
    )
    const large = (await readCompose([])).services
    const others = ['EVENTSTORE_URL_FILE', 'REDIS_URL_FILE', 'HEALTH_URLS', 'DATABASE_POOL_SIZE']
    for (const [name, parts] of Object.entries({
      api: ['command-api', 'query-api', 'operator-api'],
      projector: ['projector'],
      worker: ['worker'],
      ops: ['ops'],
    }))
      for (const part of parts)
        for (const [variable, value] of Object.entries(large[part]?.environment ?? {})) {
          if (others.includes(variable) || variable === 'DATABASE_URL_FILE') continue
          t.equal(services[name]?.environment?.[variable], value, `${name}: ${variable}`)
        }
  })

  t.test('every long-running service has a health check', async (t) => {
    const { services } = await readCompose(['trial', 'cluster'])
    const without = Object.entries(services).filter(([, { healthcheck }]) => healthcheck === undefined)
    t.same(without.map(([name]) => name).sort(), ['grant', 'migrate', 'ops'])
  })
}

const noOpenssl = await missingProgram('openssl')
const noRedis = noOpenssl ?? (await missingProgram('redis-server', 'redis-cli'))
t.test(
  'Redis allows nothing without a login, and no administration to the apps',
  { skip: (noRedis ?? missing) !== undefined && `NOT TESTED: ${noRedis ?? missing}` },
  async (t) => {
    const directory = t.testdir({})
    await run('deploy/makeSecrets.sh', [directory], { cwd: root })
    const { services } = await readCompose([])
    const port = String(await freePort())
    const words = (services.redis?.command ?? []).map((word) => word.replace('/run/secrets', directory))
    const redis = createContainer(t, 'redis', {
      words: [...words, '--port', port, '--bind', '127.0.0.1', '--dir', directory],
      env: { PATH: process.env.PATH ?? '' },
    })
    await redis.start()
    const password = readFileSync(join(directory, 'redis_password'), 'utf8')
    const cli = async (...args: string[]) => (await run('redis-cli', ['-p', port, '--no-auth-warning', ...args])).stdout
    const as = (user: string, secret: string) => ['--user', user, '--pass', secret]
    const isUp = async () => (await cli('ping').catch(() => '')).startsWith('NOAUTH')
    await waitFor(isUp, { what: 'Redis' })
    for (const command of ['get a', 'set a b', 'info', 'config get *', 'publish a b', 'acl whoami'])
      t.match(await cli(...command.split(' ')), /^NOAUTH/, `without a login: ${command}`)
    t.match(await cli(...as('default', ''), 'get', 'a'), /WRONGPASS|NOAUTH/)
    t.match(await cli(...as('paylog', 'wrong'), 'get', 'a'), /WRONGPASS|NOAUTH/)
    const paylog = as('paylog', password)
    t.match(await cli(...paylog, 'set', 'a', 'b'), 'OK')
    t.match(await cli(...paylog, 'info', 'server'), 'redis_version')
    for (const command of ['config get *', 'flushall', 'acl list', 'shutdown', 'slaveof a 1', 'module list'])
      t.match(await cli(...paylog, ...command.split(' ')), /^NOPERM/, `the apps: ${command}`)
  },
)

const skip = noOpenssl !== undefined && `NOT TESTED: ${noOpenssl}, no secrets are created`
t.test('makeSecrets.sh creates random secrets once, in a directory closed to others', { skip }, async (t) => {
  const TMPDIR = t.testdir({})
  const directory = join(TMPDIR, 'secrets')
  const make = () => run('deploy/makeSecrets.sh', [directory], { cwd: root, env: { ...process.env, TMPDIR } })
  const read = (name: string) => readFileSync(join(directory, name), 'utf8')
  await make()
  t.same(readdirSync(TMPDIR), ['secrets'], 'no file that another user could not replace')
  t.match(read('query_password'), /^[0-9a-f]{48}$/)
  t.not(read('query_password'), read('database_password'))
  t.equal(read('database_url'), `postgres://paylog:${read('database_password')}@postgres:5432/paylog`)
  t.equal(read('query_database_url'), `postgres://paylog_query:${read('query_password')}@postgres:5432/paylog`)
  t.equal(read('command_database_url'), `postgres://paylog_command:${read('command_password')}@postgres:5432/paylog`)
  t.match(read('pii_master_key'), /^[A-Za-z0-9+/]{43}=$/)
  t.match(read('redis_url'), `redis://paylog:${read('redis_password')}@redis:6379`)
  t.notMatch(read('redis_acl'), read('redis_password'), 'Redis stores only its hash')
  t.match(read('eventstore_url'), `esdb://paylog:${read('eventstore_password')}@eventstore:2113?tls=true`)
  const note = signNote('text\n', parseSigningKey(read('audit_signing_key')))
  t.equal(openNote(note, parseVerifierKey(read('audit_verifier_key'))).text, 'text\n')
  t.equal(statSync(directory).mode & 0o777, 0o700)
  t.equal(statSync(join(directory, 'query_password')).mode & 0o777, 0o644, 'the container users differ from the owner')
  chmodSync(join(directory, 'database_url'), 0o600)
  writeFileSync(join(directory, 'database_url'), 'postgres://elsewhere')
  const password = read('query_password')
  const { stdout } = await make()
  t.match(stdout, 'database_url already exists and is kept')
  t.same([read('database_url'), read('query_password')], ['postgres://elsewhere', password])
})

t.test(
  'makeSecrets.sh creates connection strings and a certificate for all nodes of a cluster',
  { skip },
  async (t) => {
    const { services } = await readCompose(['cluster'])
    const nodes = Object.keys(services).filter((name) => name.startsWith('eventstore'))
    t.equal(nodes.length, 3)
    const EVENTSTORE_HOSTS = [...nodes, '192.0.2.1'].map((name) => `${name}:2113`).join(',')
    const directory = join(t.testdir({}), 'secrets')
    await run('deploy/makeSecrets.sh', [directory], { cwd: root, env: { ...process.env, EVENTSTORE_HOSTS } })
    const read = (name: string) => readFileSync(join(directory, name), 'utf8')
    const certificate = new X509Certificate(read('eventstore_certificate'))
    for (const name of [...nodes, 'localhost']) t.equal(certificate.checkHost(name), name)
    for (const address of ['192.0.2.1', '127.0.0.1']) t.equal(certificate.checkIP(address), address)
    for (const [name, user] of Object.entries({ eventstore_url: 'paylog', eventstore_admin_url: 'admin' })) {
      const text = read(name).replace('/run/secrets/eventstore_ca', join(directory, 'eventstore_ca'))
      const { hosts, isCluster, isEncrypted, credentials } = parseConnectionString(text)
      t.match(
        { hosts, isCluster, isEncrypted },
        { hosts: EVENTSTORE_HOSTS.split(','), isCluster: true, isEncrypted: true },
      )
      t.equal(credentials?.user, user)
    }
  },
)
