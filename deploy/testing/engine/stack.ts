// A compose project on the engine: a copy of the checkout with secrets of its own, and the clients' commands in it.
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { root } from '../composeFile.ts'
import { type Engine, output } from './engine.ts'

const healthyTimeoutMs = 240_000

export type StackOptions = {
  readonly project: string
  /** Compose files of the checkout, in order. */
  readonly files: readonly string[]
  /** The checkout to copy. Default: this one. */
  readonly from?: string
  readonly variables?: Readonly<Record<string, string>>
}

export type ContainerState = {
  readonly service: string
  readonly name: string
  readonly state: string
  readonly status: string
}

export type Stack = {
  readonly directory: string
  /** Of the edge. */
  readonly url: string
  /** Appends to `.env`, as an operator does. */
  set(variables: Readonly<Record<string, string>>): void
  /** `docker-compose` with the project and its files. */
  compose(...args: readonly string[]): Promise<string>
  /** Runs lines of a page of the docs in the checkout, whose `docker compose` is the installed client. */
  shell(lines: string): Promise<string>
  /** A command of `ops` in a container of its own. */
  ops(...args: readonly string[]): Promise<string>
  psql(statement: string): Promise<string>
  containers(): Promise<readonly ContainerState[]>
  /** Waits until every container that has to run is healthy. */
  healthy(): Promise<void>
  /** Kills their first processes, as a crash does: the engine restarts what is not told to stop. */
  kill(...services: readonly string[]): Promise<void>
  /** Puts the files of another checkout in place of those of this one, as `git pull` does. Secrets and variables stay. */
  replaceFiles(replacing: string): Promise<void>
}

/** Copies the checkout and makes its secrets. Everything of the project is removed with the test. */
export async function prepareStack(t: Test, engine: Engine, options: StackOptions): Promise<Stack> {
  const { project, files, from = root, variables = {} } = options
  const directory = join(engine.directory, project)
  await copyCheckout(from, directory)
  const port = await freePort()
  const ports = { HTTP_BIND: `127.0.0.1:${port}`, HTTPS_BIND: `127.0.0.1:${await freePort()}` }
  // What is in the environment wins over .env, and over a file that a command names in its place.
  const env = { ...engine.env, ...ports, ...variables, COMPOSE_PROJECT_NAME: project, COMPOSE_FILE: files.join(':') }
  const run = (program: string, args: readonly string[]) => output(program, args, env, directory)
  const compose = (...args: readonly string[]) => run('docker-compose', args)
  const set = (values: Readonly<Record<string, string>>) =>
    appendFileSync(
      join(directory, '.env'),
      Object.entries(values)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    )
  writeFileSync(join(directory, '.env'), '')
  writeFileSync(join(directory, 'webhooks.env'), '')
  t.teardown(() => compose('down', '--volumes', '--remove-orphans', '--timeout', '5'))
  const containers = async () => {
    const format = '{{.Label "com.docker.compose.service"}}|{{.Names}}|{{.State}}|{{.Status}}'
    const listed = await engine.docker(
      'ps',
      '--all',
      '--filter',
      `label=com.docker.compose.project=${project}`,
      '--format',
      format,
    )
    return listed
      .split('\n')
      .filter((line) => line.includes('|'))
      .map((line) => {
        const [service = '', name = '', state = '', status = ''] = line.split('|')
        return { service, name, state, status }
      })
  }
  t.teardown(async () => {
    if (t.passing()) return
    for (const { service, name, status } of (await containers()).filter((each) => each.service !== 'receiver')) {
      const lines = (await engine.docker('logs', '--tail', '30', name)).split('\n').map((line) => line.slice(0, 600))
      t.comment(`${service}: ${status}\n${lines.join('\n')}`)
    }
  })
  return {
    directory,
    url: `http://127.0.0.1:${port}`,
    set,
    compose,
    shell: (lines) => run('sh', ['-ec', lines.replaceAll('docker compose ', 'docker-compose ')]),
    ops: (...args) => compose('run', '--rm', '-T', 'ops', ...args),
    psql: (statement) => compose('exec', '-T', 'postgres', 'psql', '-U', 'postgres', '-d', 'paylog', '-tAc', statement),
    containers,
    async healthy() {
      let last = ''
      const allHealthy = async () => {
        const long = (await containers()).filter(
          ({ state, status }) => !(state === 'exited' && status.startsWith('Exited (0)')),
        )
        last = long.map(({ service, status }) => `${service}: ${status}`).join(', ')
        return long.length > 0 && long.every(({ status }) => status.includes('(healthy)'))
      }
      await waitFor(allHealthy, { what: 'healthy containers', timeoutMs: healthyTimeoutMs }).catch((error: unknown) => {
        throw new Error(`${String(error)}: ${last}`)
      })
    },
    async kill(...services) {
      const names = (await containers()).filter(({ service }) => services.includes(service)).map(({ name }) => name)
      const pids = await engine.docker('inspect', '--format', '{{.State.Pid}}', ...names)
      for (const pid of pids.trim().split('\n').map(Number)) if (pid > 0) process.kill(pid, 'SIGKILL')
    },
    async replaceFiles(replacing) {
      for (const file of await filesOf(from)) rmSync(join(directory, file), { force: true })
      await copyCheckout(replacing, directory)
    },
  }
}

async function copyCheckout(from: string, to: string): Promise<void> {
  for (const file of await filesOf(from)) {
    mkdirSync(dirname(join(to, file)), { recursive: true })
    cpSync(join(from, file), join(to, file))
  }
  // Beside the operator's files.
  for (const name of ['docker-compose.engine.yml', 'docker-compose.receiver.yml'])
    cpSync(fileURLToPath(new URL(`standIns/${name}`, import.meta.url)), join(to, name))
}

/** The files that Git knows or would add, as a clone of this state has them. */
async function filesOf(checkout: string): Promise<readonly string[]> {
  const args = ['-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const listed = await output('git', args, { PATH: process.env.PATH ?? '' }, checkout)
  return listed.split('\0').filter((file) => file !== '' && existsSync(join(checkout, file)))
}

/** @param name a file of deploy/secrets */
export const secretOf = ({ directory }: Stack, name: string) =>
  readFileSync(join(directory, 'deploy', 'secrets', name), 'utf8')
