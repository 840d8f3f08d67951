// What a service of the compose files is as a process of this machine: its words, its variables and its health check.
import { compileCache } from '@paylog/testing/compileCache'
import type { ComposeService } from './composeFile.ts'

/** Of EventStoreDB, Redis, the health page of the edge, and the rest. */
const innerPorts: Readonly<Record<string, number>> = { eventstore: 2113, redis: 6379, edge: 2019 }
const otherInnerPort = 8080
const innerPortOf = (name: string) => innerPorts[name] ?? otherInnerPort

/** Where everything is that has a name of its own in a container. */
export type Host = {
  readonly directory: string
  /** Where each service listens; the edge's health page, for the edge. */
  readonly ports: ReadonlyMap<string, number>
  readonly edgePort: number
  readonly reader: string
}

export const portOf = ({ ports }: Host, name: string) => ports.get(name) ?? 0

export function environmentOf(
  host: Host,
  name: string,
  { environment = {} }: ComposeService,
): Readonly<Record<string, string>> {
  const port = String(portOf(host, name))
  return {
    PATH: process.env.PATH ?? '',
    ...compileCache,
    ...Object.fromEntries(
      Object.entries(environment).map(([variable, value]) => [variable, withHostAddresses(host, value)]),
    ),
    ...('PORT' in environment && { PORT: port }),
    ...('HEALTH_PORT' in environment && { HEALTH_PORT: port }),
    ...('TRUST_PROXY' in environment && { TRUST_PROXY: '127.0.0.1' }),
  }
}

/** The same value where nothing has a name, and nobody but this machine is served. */
function withHostAddresses({ ports, directory, reader }: Host, value: string): string {
  let text = value
  for (const [name, port] of ports) text = text.replaceAll(`//${name}:${innerPortOf(name)}`, `//127.0.0.1:${port}`)
  return text
    .replaceAll('0.0.0.0', '127.0.0.1')
    .replaceAll('/run/secrets/', `${directory}/secrets/`)
    .replaceAll('paylog_reader', reader)
}

export function healthCheckOf(
  host: Host,
  name: string,
  { healthcheck }: ComposeService,
): readonly string[] | undefined {
  const [kind, ...words] = healthcheck?.test ?? []
  if (kind === undefined) return undefined
  const port = portOf(host, name)
  const here = words.map((word) =>
    word
      .replaceAll(`127.0.0.1:${innerPortOf(name)}`, `127.0.0.1:${port}`)
      .replace(/^redis-cli/, `redis-cli -p ${port}`),
  )
  if (kind === 'CMD-SHELL') return ['sh', '-c', ...here]
  return here.map((word, index) => (index === 0 && word === 'node' ? process.execPath : word))
}

export function commandOf(host: Host, name: string, { command = [] }: ComposeService): readonly string[] {
  const port = String(portOf(host, name))
  if (name === 'redis')
    return [
      ...command.map((word) => withHostAddresses(host, word)),
      '--port',
      port,
      '--bind',
      '127.0.0.1',
      '--dir',
      host.directory,
    ]
  if (name === 'edge') return ['caddy', 'run', '--config', 'deploy/Caddyfile', '--adapter', 'caddyfile']
  return [process.execPath, ...command]
}

export function edgeEnvironment(host: Host): Readonly<Record<string, string>> {
  const upstreams = ['command-api', 'query-api', 'docs'].flatMap((name) => {
    const prefix = name.toUpperCase().replace('-', '_')
    return [
      [`${prefix}_HOST`, '127.0.0.1'],
      [`${prefix}_PORT`, String(portOf(host, name))],
    ]
  })
  return {
    PATH: process.env.PATH ?? '',
    SITE_ADDRESS: `http://:${host.edgePort}`,
    EDGE_BIND: '127.0.0.1',
    EDGE_HEALTH_PORT: String(portOf(host, 'edge')),
    HOME: host.directory,
    XDG_DATA_HOME: host.directory,
    XDG_CONFIG_HOME: host.directory,
    ...Object.fromEntries(upstreams),
  }
}
