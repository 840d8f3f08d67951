// The large form, with the trial's people and provider, and a webhook endpoint beside it.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Engine } from './engine.ts'
import { prepareStack, type Stack, type StackOptions } from './stack.ts'

const largeVariables = {
  AUTH_URL: 'http://identity:8080',
  WEBHOOKS_ENV_FILE: './webhooks.env',
  // The networks of the engine.
  WEBHOOK_ALLOWED_PRIVATE_CIDRS: '172.16.0.0/12,192.168.0.0/16',
  RATE_LIMIT_PER_MINUTE: '100000',
  RATE_LIMIT_ANONYMOUS_PER_MINUTE: '100000',
}

const signingSecret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

/** @param options another event store than the embedded one has its own `files` */
export function prepareLarge(
  t: Test,
  engine: Engine,
  project: string,
  options: Partial<StackOptions> = {},
): Promise<Stack> {
  const files = [
    'docker-compose.yml',
    'docker-compose.trial.yml',
    'docker-compose.engine.yml',
    'docker-compose.receiver.yml',
  ]
  return prepareStack(t, engine, { project, files, variables: largeVariables, ...options })
}

/** The secrets of a stack whose event store is the embedded one, and its webhook endpoint. */
export async function makeSecrets(stack: Stack): Promise<void> {
  await stack.shell('deploy/makeSecrets.sh')
  writeFileSync(join(stack.directory, 'deploy/secrets/eventstore_url'), 'esdb://eventstore:2113?tls=false')
  writeEndpoint(stack)
}

/** Names the endpoint of `docker-compose.receiver.yml` to the worker. */
export function writeEndpoint({ directory }: Stack): void {
  const lines = ['WEBHOOK_1_ENABLED=true', 'WEBHOOK_1_URL=http://receiver:9000/', `WEBHOOK_1_SECRET=${signingSecret}`]
  writeFileSync(join(directory, 'webhooks.env'), `${lines.join('\n')}\n`)
}
