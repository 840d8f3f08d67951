// A Docker engine for one test: in a folder that goes with it, beside an engine that the machine may have.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { missingProgram } from '../composeFile.ts'

const run = promisify(execFile)
const startTimeoutMs = 60_000
const stopTimeoutMs = 30_000
const commandTimeoutMs = 900_000
const maxOutputBytes = 64 * 1024 * 1024

export type Engine = {
  readonly directory: string
  /** `DOCKER_HOST` and the like, for both clients. */
  readonly env: Readonly<Record<string, string>>
  /** @returns what the command printed on both streams @throws with that text when it ends with another code than 0 */
  docker(...args: readonly string[]): Promise<string>
  /** The pid of the engine, for who stops it as a host that loses its power. */
  readonly pid: number
}

/**
 * Starts an engine with stand-ins of the images, where the machine lets it run, and ends it with the test.
 * @param load puts the stand-ins into it
 * @returns the engine, or why none can run here: a machine without root, programs, networks for containers, Debian's mirror
 *   or npm's registry says so, and is no failure of the containers
 */
export async function usableEngine(t: Test, load: (engine: Engine) => Promise<void>): Promise<Engine | string> {
  if (process.getuid?.() !== 0) return 'a Docker engine is started by root only'
  const missing = await missingProgram('dockerd', 'docker', 'docker-compose', 'debootstrap', 'iptables')
  if (missing !== undefined) return missing
  try {
    const engine = await startEngine(t)
    await load(engine)
    await engine.docker('network', 'create', 'probe')
    await engine.docker(
      'run',
      '--rm',
      '--network',
      'probe',
      '--memory',
      '128m',
      'node:24.21.0-slim',
      'node',
      '--version',
    )
    await engine.docker('run', '--rm', '--network', 'host', 'node:24.21.0-slim', 'npm', 'view', 'pg', 'version')
    return engine
  } catch (error) {
    return `no engine can be used here: ${error instanceof Error ? error.message.split('\n').slice(-3).join(' ') : error}`
  }
}

/** @throws when it does not start, with the end of its log */
async function startEngine(t: Test): Promise<Engine> {
  const directory = mkdtempSync(join(tmpdir(), 'paylog-engine-'))
  const socket = `unix://${join(directory, 'sock')}`
  const logFile = join(directory, 'log')
  const log = openSync(logFile, 'w')
  const places = ['data-root:data', 'exec-root:exec', 'pidfile:pid'].flatMap((place) => {
    const [option = '', name = ''] = place.split(':')
    return [`--${option}`, join(directory, name)]
  })
  // Containers reach each other by the networks of their compose file, so the engine's own bridge is not made.
  const args = [...places, '--host', socket, '--ip', '127.0.0.1', '--bridge', 'none']
  const engine = spawn('dockerd', args, { stdio: ['ignore', log, log], detached: true })
  const ended = once(engine, 'close')
  t.teardown(async () => {
    engine.kill('SIGTERM')
    const overdue = setTimeout(() => engine.kill('SIGKILL'), stopTimeoutMs)
    await ended
    clearTimeout(overdue)
    // The engine leaves its network namespace mounted.
    const mounted = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[1] ?? '')
    for (const place of mounted.filter((path) => path.startsWith(`${directory}/`)).reverse())
      await run('umount', [place])
    rmSync(directory, { recursive: true, force: true })
  })
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: directory,
    DOCKER_HOST: socket,
    DOCKER_CONFIG: directory,
    // Debian's engine comes without the plugin that the newer builder needs.
    DOCKER_BUILDKIT: '0',
    COMPOSE_DOCKER_CLI_BUILD: '0',
  }
  const docker = (...args: readonly string[]) => output('docker', args, env)
  const isReady = () =>
    docker('info').then(
      () => true,
      () => {
        if (engine.exitCode === null) return false
        throw new Error(`dockerd ended: ${readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-3).join(' ')}`)
      },
    )
  await waitFor(isReady, { what: 'the Docker engine', timeoutMs: startTimeoutMs })
  return { directory, env, docker, pid: engine.pid ?? 0 }
}

/** Runs a program. @returns both streams, one after the other @throws with them when it fails */
export async function output(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd?: string,
): Promise<string> {
  const options = { env, cwd, timeout: commandTimeoutMs, maxBuffer: maxOutputBytes }
  const { stdout, stderr } = await run(program, [...args], options).catch((error: unknown) => {
    const { code = '', stdout = '', stderr = '' } = Object(error)
    throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`.slice(-8_000))
  })
  return `${stdout}${stderr}`
}
