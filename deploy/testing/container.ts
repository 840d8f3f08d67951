// Runs a service of the compose files as a local process: its command, variables and health check.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { moduleLoading } from '@paylog/testing/testEnvironment'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { type ComposeService, root } from './composeFile.ts'

/** The ports of EventStoreDB, Redis, and the health page of the edge. The others listen on 8080. */
const innerPorts: Readonly<Record<string, number>> = { eventstore: 2113, redis: 6379, edge: 2019 }
const otherInnerPort = 8080
const innerPortOf = (name: string) => innerPorts[name] ?? otherInnerPort

/** Local addresses and directories in place of container names and mounts. */
export type Host = {
  readonly directory: string
  /** The port of each service; for the edge, of its health page. */
  readonly ports: ReadonlyMap<string, number>
  readonly edgePort: number
  readonly reader: string
  readonly keysRole: string
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
    ...moduleLoading,
    ...Object.fromEntries(
      Object.entries(environment).map(([variable, value]) => [variable, withHostAddresses(host, value)]),
    ),
    // The projector of the small form has a health page beside the log.
    ...('PORT' in environment && { PORT: 'HEALTH_PORT' in environment ? String(portOf(host, 'eventstore')) : port }),
    ...('HEALTH_PORT' in environment && { HEALTH_PORT: port }),
    ...('TRUST_PROXY' in environment && { TRUST_PROXY: '127.0.0.1' }),
  }
}

/** Replaces container names and paths by local ones. */
function withHostAddresses({ ports, directory, reader, keysRole }: Host, value: string): string {
  let text = value
  for (const [name, port] of ports) text = text.replaceAll(`//${name}:${innerPortOf(name)}`, `//127.0.0.1:${port}`)
  return text
    .replaceAll('0.0.0.0', '127.0.0.1')
    .replaceAll('/run/secrets/', `${directory}/secrets/`)
    .replaceAll('/var/lib/paylog/', `${directory}/`)
    .replaceAll('paylog_reader', reader)
    .replaceAll('paylog_keys', keysRole)
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
  if (name === 'edge') return ['caddy', 'run', '--config', 'deploy/edge/Caddyfile', '--adapter', 'caddyfile']
  return [process.execPath, ...command]
}

export function edgeEnvironment(host: Host): Readonly<Record<string, string>> {
  const upstreams = ['command-api', 'query-api', 'operator-api'].flatMap((name) => {
    const prefix = name.toUpperCase().replace('-', '_')
    return [
      [`${prefix}_HOST`, '127.0.0.1'],
      [`${prefix}_PORT`, String(portOf(host, name) || portOf(host, 'api'))],
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

const stopTimeoutMs = 30_000
const healthTimeoutMs = 40_000

export type ContainerCommand = { readonly words: readonly string[]; readonly env: Readonly<Record<string, string>> }

export type Container = {
  start(): Promise<void>
  /** Sends SIGTERM, then SIGKILL after the timeout, as compose does. @returns the exit code */
  stop(): Promise<number | null>
  /** The exit code of a service that runs once. */
  ended(): Promise<number | null>
  output(): string
}

/** @param health the command of the health check and its port; the check runs until it succeeds after each start */
export function createContainer(
  t: Test,
  name: string,
  command: ContainerCommand,
  health?: { readonly words: readonly string[]; readonly port: number },
): Container {
  let child: ChildProcess | undefined
  let exited: Promise<number | null> = Promise.resolve(null)
  let written = ''

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    child?.kill(signal)
    const overdue = setTimeout(() => child?.kill('SIGKILL'), stopTimeoutMs)
    const code = await exited
    clearTimeout(overdue)
    return code
  }

  t.teardown(() => end('SIGTERM'))
  t.teardown(() => {
    if (!t.passing()) t.comment(`${name}: ${written.slice(-2_000)}`)
  })
  return {
    async start() {
      const [program = '', ...args] = command.words
      const started = spawn(program, args, { cwd: root, env: command.env, stdio: ['ignore', 'pipe', 'pipe'] })
      child = started
      for (const stream of [started.stdout, started.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          written += text
        })
      exited = once(started, 'close').then(([code]) => code)
      if (health === undefined) return
      await waitFor(
        async () => {
          if (started.exitCode !== null || started.signalCode !== null) throw new Error(`${name} ended: ${written}`)
          // The health check starts a process, which is slow. Wait for the port first.
          return (await listens(health.port)) && (await exitCodeOf(health.words)) === 0
        },
        { what: `${name} to be healthy`, timeoutMs: healthTimeoutMs },
      )
    },
    stop: () => end('SIGTERM'),
    ended: () => exited,
    output: () => written,
  }
}

async function exitCodeOf([program = '', ...args]: readonly string[]): Promise<number | null> {
  const child = spawn(program, args, { env: { PATH: process.env.PATH }, stdio: 'ignore' })
  const [code] = await once(child, 'close')
  return code
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return isOpen
}
