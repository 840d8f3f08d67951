// Reads the compose files through docker-compose.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parse } from 'yaml'

const run = promisify(execFile)

export const root = fileURLToPath(new URL('../..', import.meta.url))

export type ComposeService = {
  readonly image: string
  readonly command?: readonly string[]
  readonly entrypoint?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: {
    readonly test: readonly string[]
    readonly interval: string
    readonly timeout: string
    readonly retries: number
  }
  readonly stop_grace_period?: string
  readonly secrets?: readonly { readonly source: string; readonly target?: string }[]
  readonly volumes?: readonly string[]
  readonly user?: string
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly cap_add?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly mem_limit?: string
  readonly pids_limit?: number
  readonly networks?: Readonly<Record<string, unknown>>
  readonly ports?: readonly unknown[]
  readonly profiles?: readonly string[]
}

export type Compose = { readonly services: Readonly<Record<string, ComposeService>> }

/** @returns a message about the first program that is not installed, or undefined */
export async function missingProgram(...programs: readonly string[]): Promise<string | undefined> {
  for (const program of programs) {
    const isInstalled = await run('sh', ['-c', `command -v ${program}`]).then(
      () => true,
      () => false,
    )
    if (!isInstalled) return `there is no ${program}`
  }
  return undefined
}

const known = new Map<string, Promise<Compose>>()

/**
 * @param files besides docker-compose.yml: `trial` for docker-compose.trial.yml. With `small` first, docker-compose.small.yml
 *   is in its place
 * @param variables all variables that the operator sets. Without AUTH_URL it is that of the trial
 * @param client Compose 2 writes some values in another form
 * @throws when it rejects the files
 */
export function readCompose(
  files: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  client = 'docker-compose',
): Promise<Compose> {
  const key = JSON.stringify([files, variables, client])
  const compose = known.get(key) ?? runComposeConfig(files, variables, client)
  known.set(key, compose)
  return compose
}

async function runComposeConfig(
  files: readonly string[],
  variables: Readonly<Record<string, string>>,
  client: string,
): Promise<Compose> {
  const base = files[0] === 'small' ? [] : ['docker-compose.yml']
  const names = [...base, ...files.map((name) => `docker-compose.${name}.yml`)]
  const { stdout } = await run(client, [...names.flatMap((name) => ['-f', name]), 'config'], {
    cwd: root,
    // Ignores an .env file of the operator.
    env: { PATH: process.env.PATH, COMPOSE_DISABLE_ENV_FILE: '1', AUTH_URL: 'http://identity:8080', ...variables },
  })
  return parse(stdout)
}
