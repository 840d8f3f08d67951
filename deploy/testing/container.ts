// A process that stands in for a container: it knows nobody, hears signals, and is asked how it is by its health check.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { root } from './composeFile.ts'

const stopTimeoutMs = 30_000
const healthTimeoutMs = 40_000

export type ContainerCommand = { readonly words: readonly string[]; readonly env: Readonly<Record<string, string>> }

export type Container = {
  start(): Promise<void>
  /** As compose does. @returns how it ended */
  stop(): Promise<number | null>
  /** Of one that ends by itself. */
  ended(): Promise<number | null>
  output(): string
}

/** @param health the words of a health check, run until it succeeds whenever the container has been started, and its port */
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
          // The check is a process of its own, and dear: nobody is asked who does not listen yet.
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
