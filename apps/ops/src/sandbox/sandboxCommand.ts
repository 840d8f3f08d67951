// What the `sandbox` commands share: their configuration, and how they print and fail.
import { loadConfig } from '@paylog/config/environment'
import { commaList, port, text, url } from '@paylog/config/kinds'
import type { Payment } from '@paylog/domain/payments/payment'
import { ProviderError } from '@paylog/providers/provider'
import { createPostgresMemory } from '@paylog/providers/sandbox/postgresMemory'
import { reachableUrl } from '@paylog/runtime/process/reachableUrl'
import { type SandboxReport, type SettledPayment, SettlementError } from '@paylog/workflows/payments/settlement'
import { Type } from 'typebox'
import { type CommandContext, OpsError, readArguments, UsageError } from '../command.ts'
import { eventLogVariables, openEventLog } from '../eventLog.ts'

const Config = Type.Object({
  ...eventLogVariables,
  HOST: text('127.0.0.1'),
  PORT: port(8080),
  SANDBOX_WEBHOOK_SECRET: commaList(),
  SANDBOX_DATABASE_URL: Type.Optional(url(['postgres', 'postgresql'])),
})

const memoryTimeoutMs = 10_000

export const silentOption = '  --silent  the notification is lost: only the memory of the sandbox learns of it'
export const jsonOption = '  --json    one object: payment_id, status, event_id'

/** @throws UsageError unless the word is one of the outcomes */
export function readOutcome<Outcome extends string>(word: string | undefined, outcomes: readonly Outcome[]): Outcome {
  const found = outcomes.find((outcome) => outcome === word)
  if (found === undefined) throw new UsageError(`The outcome must be one of ${outcomes.join(', ')}`)
  return found
}

export type SandboxCommand = {
  /** @throws SettlementError */
  readonly send: (report: SandboxReport) => Promise<SettledPayment>
  /** The result in words. */
  readonly describe: (payment: Payment) => string
  /** The status that the notification should lead to. */
  readonly expected?: string | undefined
}

/**
 * Runs a `sandbox` command.
 * @param names of the positional arguments; the first is the payment
 * @param prepare checks the others before anything is sent
 */
export async function runSandboxCommand(
  args: readonly string[],
  { environment, print, errors }: CommandContext,
  names: readonly ['PAYMENT'] | readonly ['PAYMENT', 'OUTCOME'],
  prepare: (word: string | undefined) => SandboxCommand,
): Promise<void> {
  const { values, positionals } = readArguments(args, names, {
    json: { type: 'boolean' },
    silent: { type: 'boolean' },
  })
  const [paymentId = '', word] = positionals
  const { send, describe, expected } = prepare(word)
  const config = loadConfig(Config, environment)
  const { SANDBOX_DATABASE_URL: databaseUrl } = config
  if (values.silent && databaseUrl === undefined) throw new UsageError('--silent needs SANDBOX_DATABASE_URL')
  const silentlyIn =
    values.silent && databaseUrl ? createPostgresMemory({ databaseUrl, timeoutMs: memoryTimeoutMs }) : undefined
  const { store, close } = await openEventLog(config, errors)
  try {
    const baseUrl = reachableUrl(config.HOST, config.PORT)
    const secret = config.SANDBOX_WEBHOOK_SECRET[0] ?? ''
    const sent = send({ store, baseUrl, secret, paymentId, silentlyIn })
    const { event_id, payment } = await sent.catch((cause: unknown) => {
      const isExpected = cause instanceof SettlementError || cause instanceof ProviderError
      throw isExpected ? new OpsError(cause.message, { cause }) : cause
    })
    const { status } = payment
    const text = silentlyIn ? `Nobody was notified. Payment ${paymentId} is still ${status}.` : describe(payment)
    await print(values.json ? JSON.stringify({ payment_id: paymentId, status, event_id }) : text)
    if (!silentlyIn && expected !== undefined && status !== expected)
      throw new OpsError(`The notification is recorded, but the payment did not become "${expected}".`)
  } finally {
    await silentlyIn?.close()
    await close()
  }
}

export const describeStatus = ({ payment_id, status }: Payment) => `Payment ${payment_id} is ${status}.`
