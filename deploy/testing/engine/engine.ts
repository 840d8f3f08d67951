// A Docker engine for one test: in a folder that goes with it, beside an engine that the machine may have.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
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
  /** Kills the engine and all that it runs, as a power cut does, and starts it with what is on the disk. */
  restart(): Promise<void>
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
    // Its bridge would stay on the machine.
    await engine.docker('network', 'rm', 'probe')
    await engine.docker('run', '--rm', '--network', 'host', 'node:24.21.0-slim', 'npm', 'view', 'pg', 'version')
    return engine
  } catch (error) {
    return `no engine can be used here: ${error instanceof Error ? error.message.split('\n').slice(-3).join(' ') : error}`
  }
}

/** @throws when it does not start, with the end of its log */
export async function startEngine(t: Test): Promise<Engine> {
  const directory = mkdtempSync(join(tmpdir(), 'paylog-engine-'))
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: directory,
    DOCKER_HOST: `unix://${join(directory, 'sock')}`,
    DOCKER_CONFIG: directory,
    // Debian's engine comes without the plugin that the newer builder needs.
    DOCKER_BUILDKIT: '0',
    COMPOSE_DOCKER_CLI_BUILD: '0',
  }
  const docker = (...args: readonly string[]) => output('docker', args, env)
  let engine = spawnEngine(directory, env.DOCKER_HOST)
  t.teardown(async () => {
    engine.child.kill('SIGTERM')
    const overdue = setTimeout(() => engine.child.kill('SIGKILL'), stopTimeoutMs)
    await engine.ended
    clearTimeout(overdue)
    await unmount(directory)
    rmSync(directory, { recursive: true, force: true })
  })
  await isUp(engine.child, directory, docker)
  return {
    directory,
    env,
    docker,
    async restart() {
      const running = (await docker('ps', '--quiet', '--no-trunc')).trim().split('\n')
      const pids = await docker('inspect', '--format', '{{.State.Pid}}', ...running)
      // The engine first, because it would start a container again.
      for (const pid of [...ownProcesses(directory), ...pids.trim().split('\n').map(Number)]) killed(pid)
      await engine.ended
      await unmount(directory)
      // On a host, it is in memory.
      rmSync(join(directory, 'exec'), { recursive: true, force: true })
      rmSync(join(directory, 'pid'), { force: true })
      engine = spawnEngine(directory, env.DOCKER_HOST)
      await isUp(engine.child, directory, docker)
    },
  }
}

function spawnEngine(directory: string, socket: string) {
  const log = openSync(join(directory, 'log'), 'a')
  const places = ['data-root:data', 'exec-root:exec', 'pidfile:pid'].flatMap((place) => {
    const [option = '', name = ''] = place.split(':')
    return [`--${option}`, join(directory, name)]
  })
  // Containers reach each other by the networks of their compose file, so the engine's own bridge is not made.
  const args = [...places, '--host', socket, '--ip', '127.0.0.1', '--bridge', 'none']
  const child = spawn('dockerd', args, { stdio: ['ignore', log, log], detached: true })
  closeSync(log)
  return { child, ended: once(child, 'close') }
}

async function isUp(child: ChildProcess, directory: string, docker: Engine['docker']): Promise<void> {
  const answers = () =>
    docker('info').then(
      () => true,
      () => {
        if (child.exitCode === null) return false
        const log = readFileSync(join(directory, 'log'), 'utf8')
        throw new Error(`dockerd ended: ${log.trimEnd().split('\n').slice(-3).join(' ')}`)
      },
    )
  await waitFor(answers, { what: 'the Docker engine', timeoutMs: startTimeoutMs })
}

/** The engine leaves its network namespace mounted, and all that its containers had when it was killed. */
async function unmount(directory: string): Promise<void> {
  const mounted = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
  for (const place of mounted.filter((path) => path.startsWith(`${directory}/`)).reverse())
    await run('umount', ['--lazy', place])
}

/** The engine, its containerd and a process of that for each container, which all name their folder. */
function ownProcesses(directory: string): readonly number[] {
  const named = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join(directory, 'exec'))
    } catch {
      return false
    }
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && named(name))
    .map(Number)
    .sort((one, other) => one - other)
}

function killed(pid: number): void {
  try {
    if (pid > 0) process.kill(pid, 'SIGKILL')
  } catch {
    // It ended with another one.
  }
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
