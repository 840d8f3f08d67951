// What the apps say about secrets that are wrong or missing.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import type { Engine } from './engine.ts'
import { type Stack, secretOf } from './stack.ts'

/** In place of a content. */
const directory = '(directory)'

/**
 * What is in a secret, by the service that starts with it, and the one line of each start. Services of a round do not share
 * one. A directory is what an engine may mount in place of a file that is missing.
 */
const wrongSecrets: readonly Readonly<Record<string, readonly [secret: string, content: string, line: RegExp]>>[] = [
  {
    worker: ['database_url', 'postgres://paylog:wrong@postgres:5432/paylog', /refuses the login in DATABASE_URL: pass/],
    'query-api': [
      'query_database_url',
      'postgres://paylog_query:wrong@postgres/paylog',
      /the login in DATABASE_URL: p/,
    ],
    'command-api': [
      'command_database_url',
      directory,
      / DATABASE_URL_FILE names a directory in place of a file: write/,
    ],
  },
  {
    'command-api': ['pii_master_key', 'c2hvcnQ=', /PII_MASTER_KEY must be one or more keys of 32 bytes in base64/],
    'query-api': ['redis_url', 'redis://paylog:wrong@redis:6379', /"msg":"Redis refuses the login in REDIS_URL/],
  },
  {
    projector: ['audit_signing_key', 'PRIVATE+KEY+wrong@', /AUDIT_SIGNING_KEY is not a signing key/],
    worker: ['redis_url', 'redis://paylog:wrong@redis:6379', /"msg":"Redis refuses the login in REDIS_URL/],
  },
  {
    projector: ['eventstore_url', 'http://eventstore:2113', /EVENTSTORE_URL must begin with esdb:/],
    'query-api': ['query_database_url', '', /DATABASE_URL_FILE names an empty file/],
  },
]

/** Each service says one line for each of its starts, which names the variable and not the content. */
export async function namesWrongSecrets(t: Test, engine: Engine, stack: Stack) {
  const secrets = join(stack.directory, 'deploy/secrets')
  for (const round of wrongSecrets) {
    const services = Object.keys(round)
    const kept = Object.values(round).map(([secret]) => [join(secrets, secret), secretOf(stack, secret)] as const)
    for (const [secret, content] of Object.values(round)) replace(join(secrets, secret), content)
    await stack.compose('up', '--detach', '--no-deps', '--force-recreate', ...services)
    for (const [service, [secret, , line]] of Object.entries(round)) {
      const name = (await stack.containers()).find((each) => each.service === service)?.name ?? ''
      const starts = async () => Number(await engine.docker('inspect', '--format', '{{.RestartCount}}', name)) + 1
      const said = async () => (await engine.docker('logs', name)).split('\n').filter((each) => each !== '')
      // Without Redis an app starts all the same.
      const enough = secret === 'redis_url' ? 1 : 2
      await waitFor(async () => (await said()).filter((each) => line.test(each)).length >= enough, {
        what: `${enough} lines of ${service} about ${secret}`,
        timeoutMs: 120_000,
      }).catch(() => undefined)
      await engine.docker('stop', '--time', '0', name)
      // The check of the health page that needs it fails too, and says so once.
      const lines = (await said()).filter((each) => !/"level":"info"|"msg":"not ready"/.test(each))
      t.same(
        lines.filter((each) => !line.test(each)),
        [],
        `${service} says nothing else about ${secret}`,
      )
      // The last start may be ended before its line.
      const unsaid = (await starts()) - lines.length
      t.ok(lines.length >= enough && (unsaid === 0 || unsaid === 1), `one line for each start: ${lines.length}`)
      t.notMatch(lines.join('\n'), /wrong@|c2hvcnQ=/, `${secret} is not shown`)
    }
    for (const [file, content] of kept) replace(file, content)
  }
  const absent = `${secrets}.absent`
  for (const [path, named] of [
    [join(secrets, 'redis_url'), /secrets\/redis_url/] as const,
    [secrets, /secrets\//] as const,
  ]) {
    renameSync(path, absent)
    await t.rejects(stack.compose('up', '--detach', '--no-deps', '--force-recreate', 'query-api'), named)
    rmSync(path, { recursive: true, force: true })
    renameSync(absent, path)
  }
}

/** A container that runs keeps the file that it has. */
function replace(file: string, content: string): void {
  rmSync(file, { recursive: true })
  if (content === directory) mkdirSync(file)
  else writeFileSync(file, content)
}
