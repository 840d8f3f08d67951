// `sandbox …`: what the provider of a sandbox payment reports, or its payer does.

import {
  approvePayment,
  disputePayment,
  endRefund,
  type ReportedPayment,
  refundEnds,
  type SandboxReport,
  SandboxReportError,
  settlePayment,
} from '@paylog/commands/payments/sandboxReports'
import type { Payment } from '@paylog/domain/payments/payment'
import { ProviderError } from '@paylog/providers/provider'
import { createPostgresMemory } from '@paylog/providers/sandbox/postgresMemory'
import { disputeReports, payerOutcomes } from '@paylog/providers/sandbox/reports'
import { loadConfig } from '@paylog/runtime/config/environment'
import { commaList, port, text } from '@paylog/runtime/config/kinds'
import { reachableUrl } from '@paylog/runtime/process/reachableUrl'
import { Type } from 'typebox'
import { OpsError, UsageError } from '../command.ts'
import { defineCommand, type Result, type Run } from '../defineCommand.ts'
import { flag, readWord } from '../options.ts'
import { databaseVariable } from '../variables.ts'

const Config = Type.Object({
  HOST: text('127.0.0.1'),
  PORT: port(8080),
  SANDBOX_WEBHOOK_SECRET: commaList(),
  SANDBOX_DATABASE_URL: Type.Optional(databaseVariable.DATABASE_URL),
})

const memoryTimeoutMs = 10_000
const json = 'one object: payment_id, status, event_id'
const silent = { silent: flag('the notification is lost: only the memory of the sandbox learns of it') }
const outcomes = (words: readonly string[]) => [`OUTCOME is what the provider reports: ${words.join(', ')}.`]

export const sandboxSettle = defineCommand({
  summary: 'Report the outcome of a sandbox payment as the provider would',
  args: ['PAYMENT', 'OUTCOME'],
  options: silent,
  json,
  about: [
    ...outcomes(payerOutcomes),
    '',
    'Sends a signed sandbox notification to the API. Exits with 1 when the payment does not get this status, for example',
    'because it is already final. A payment with manual capture is authorized, and waits for its capture.',
  ],
  async run(call) {
    const outcome = readWord(call.args[1], payerOutcomes, 'The outcome')
    const send = (given: SandboxReport) => settlePayment({ ...given, outcome })
    return await report(call, {
      send,
      describe: statusText,
      expected: outcome === 'authorized' ? 'processing' : outcome,
    })
  },
})

export const sandboxApprove = defineCommand({
  summary: 'Act as the payer of a sandbox payment that waits for an action or approval',
  args: ['PAYMENT'],
  options: silent,
  json,
  about: [
    'A payment with pm_card_actionRequired succeeds. One with pm_card_approval is processing, and Paylog captures it.',
  ],
  run: (call) => report(call, { send: approvePayment, describe: statusText }),
})

export const sandboxRefund = defineCommand({
  summary: 'Report how the newest refund of a sandbox payment ended',
  args: ['PAYMENT', 'OUTCOME'],
  options: silent,
  json,
  about: [
    ...outcomes(refundEnds),
    '',
    'Refunds succeed at once; those of payments with pm_card_refundFails are pending. Both may fail.',
  ],
  async run(call) {
    const outcome = readWord(call.args[1], refundEnds, 'The outcome')
    return await report(call, {
      send: (given) => endRefund({ ...given, outcome }),
      describe: ({ payment_id }) => `The refund of payment ${payment_id} ${outcome}.`,
    })
  },
})

export const sandboxDispute = defineCommand({
  summary: 'Report that the payer disputes a sandbox payment, or how the dispute ended',
  args: ['PAYMENT', 'OUTCOME'],
  json,
  about: outcomes(disputeReports),
  async run(call) {
    const outcome = readWord(call.args[1], disputeReports, 'The outcome')
    return await report(call, {
      send: (given) => disputePayment({ ...given, outcome }),
      describe: ({ payment_id }) => `The dispute of payment ${payment_id} is ${outcome}.`,
    })
  },
})

type Report = {
  /** @throws SandboxReportError, ProviderError */
  readonly send: (report: SandboxReport) => Promise<ReportedPayment>
  /** The result in words. */
  readonly describe: (payment: Payment) => string
  /** The status that the notification should lead to. */
  readonly expected?: string
}

type SandboxCall = Pick<Run, 'environment' | 'open'> & {
  readonly args: readonly [payment: string, ...rest: string[]]
  readonly options: { readonly silent?: boolean }
}

async function report(
  { args, options, environment, open }: SandboxCall,
  { send, describe, expected }: Report,
): Promise<Result> {
  const [paymentId] = args
  const {
    HOST,
    PORT,
    SANDBOX_WEBHOOK_SECRET: secrets,
    SANDBOX_DATABASE_URL: databaseUrl,
  } = loadConfig(Config, environment)
  if (options.silent && databaseUrl === undefined) throw new UsageError('--silent needs SANDBOX_DATABASE_URL')
  const silentlyIn =
    options.silent && databaseUrl ? createPostgresMemory({ databaseUrl, timeoutMs: memoryTimeoutMs }) : undefined
  try {
    const store = await open.store(await open.keys())
    const baseUrl = reachableUrl(HOST, PORT)
    const sent = await send({ store, baseUrl, secret: secrets[0] ?? '', paymentId, silentlyIn }).catch(explain)
    const { status } = sent.payment
    const isAsExpected = silentlyIn !== undefined || expected === undefined || status === expected
    return {
      json: { payment_id: paymentId, status, event_id: sent.event_id },
      text: silentlyIn ? `Nobody was notified. Payment ${paymentId} is still ${status}.` : describe(sent.payment),
      problem: isAsExpected ? undefined : `The notification is recorded, but the payment did not become "${expected}".`,
    }
  } finally {
    await silentlyIn?.close()
  }
}

function explain(cause: unknown): never {
  const isExpected = cause instanceof SandboxReportError || cause instanceof ProviderError
  throw isExpected ? new OpsError(cause.message, { cause }) : cause
}

const statusText = ({ payment_id, status }: Payment) => `Payment ${payment_id} is ${status}.`
