// Runs the services of a compose file without Docker: same commands and variables, other addresses. EventStoreDB is
// replaced by the embedded event store with the user of the apps; Postgres is the one of the tests.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startEventStore } from '@paylog/testing/eventStore'
import { freePort } from '@paylog/testing/processes'
import type { Test } from 'tap'
import { type Compose, root } from './composeFile.ts'
import {
  type Container,
  commandOf,
  createContainer,
  edgeEnvironment,
  environmentOf,
  type Host,
  healthCheckOf,
  portOf,
} from './container.ts'
import { createRoles } from './roles.ts'

const run = promisify(execFile)

export type Deployment = {
  /** URL of the edge. */
  readonly url: string
  readonly containers: Readonly<Record<string, Container>>
  readonly sandboxSecret: string
  /** With the owner of the tables. */
  readonly databaseUrl: string
  /** URL of a service behind the edge. */
  inside(service: string): string
}

/** Runs every service but those of a profile. */
export async function deploymentHarness(t: Test, compose: Compose): Promise<Deployment> {
  const host = await prepareHost(t, compose)
  const containers = await startContainers(t, compose, host)
  const secret = (name: string) => readFile(join(host.directory, 'secrets', name), 'utf8')
  return {
    url: `http://127.0.0.1:${host.edgePort}`,
    containers,
    sandboxSecret: await secret('sandbox_webhook_secret'),
    databaseUrl: await secret('database_url'),
    inside: (name) => `http://127.0.0.1:${portOf(host, name)}`,
  }
}

async function prepareHost(t: Test, { services }: Compose): Promise<Host> {
  const directory = await mkdtemp(join(tmpdir(), 'paylog-deployment-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const secrets = join(directory, 'secrets')
  await run('deploy/makeSecrets.sh', [secrets], { cwd: root })
  const secret = (name: string) => readFile(join(secrets, name), 'utf8')
  const roles = await createRoles(t)
  const ports = new Map<string, number>()
  for (const name of Object.keys(services)) ports.set(name, await freePort())
  if (hasLog(services)) ports.set('eventstore', ports.get('eventstore') ?? (await freePort()))
  else {
    const credentials = `paylog:${await secret('eventstore_password')}`
    const log = await startEventStore(t, { EVENTSTORE_CREDENTIALS: credentials })
    ports.set('eventstore', Number(new URL(log.connectionString).port))
    await writeFile(join(secrets, 'eventstore_url'), log.connectionString.replace('//', `//${credentials}@`))
  }
  await writeFile(join(secrets, 'database_url'), roles.ownerUrl)
  await writeFile(join(secrets, 'query_database_url'), roles.loginUrl)
  await writeFile(join(secrets, 'command_database_url'), roles.commandUrl)
  await writeFile(
    join(secrets, 'redis_url'),
    (await secret('redis_url')).replace('redis:6379', `127.0.0.1:${ports.get('redis')}`),
  )
  return { directory, ports, edgePort: await freePort(), reader: roles.reader, keysRole: roles.keysRole }
}

/** Whether a service keeps the log in Postgres. */
const hasLog = (services: Compose['services']) =>
  Object.values(services).some(({ environment }) => environment?.INSECURE === 'true')

/** Starts each service when its dependencies are in the state that it requires. */
async function startContainers(t: Test, { services }: Compose, host: Host): Promise<Record<string, Container>> {
  const containers: Record<string, Container> = {}
  const external = ['postgres', 'grant', ...(hasLog(services) ? [] : ['eventstore'])]
  const starting = new Map(external.map((name) => [name, Promise.resolve()]))

  async function bringUp(name: string): Promise<void> {
    const service = services[name]
    if (service === undefined) throw new Error(`there is no service ${name}`)
    for (const [needed, { condition }] of Object.entries(service.depends_on ?? {})) {
      await up(needed)
      const ended = condition === 'service_completed_successfully' && (await containers[needed]?.ended())
      if (ended) throw new Error(`${needed} failed: ${containers[needed]?.output()}`)
    }
    const env = name === 'edge' ? edgeEnvironment(host) : environmentOf(host, name, service)
    const command = { words: commandOf(host, name, service), env }
    const words = healthCheckOf(host, name, service)
    const health = words && { words, port: portOf(host, name) }
    const container = createContainer(t, name, command, health)
    containers[name] = container
    await container.start()
  }

  function up(name: string): Promise<void> {
    const started = starting.get(name) ?? bringUp(name)
    starting.set(name, started)
    return started
  }

  await Promise.all(Object.keys(services).map((name) => services[name]?.profiles === undefined && up(name)))
  return containers
}
