// Faults that can be planted into the product: a text of one of its files is replaced when the file is loaded. Each must be
// reported by the judge, by one of the rules named here.

import type { AppName } from '../system/parts.ts'

export type Plant = {
  readonly name: string
  readonly rules: readonly string[]
  /** From the root of the repository. */
  readonly file: string
  /** Occurs once. */
  readonly text: string
  readonly replacement: string
  /** A process that has to be killed for the fault to have an effect. */
  readonly kills?: AppName
  /** Variables of the apps with which it has its effect sooner. */
  readonly env?: Readonly<Record<string, string>>
}

/** The outcome of late calls is unknown. */
const impatient = { PROVIDER_TIMEOUT_MS: '1000' }

const later = (ms: number) => `await new Promise((resolve) => setTimeout(resolve, ${ms}))`

export const plants: readonly Plant[] = [
  {
    name: 'append not awaited',
    rules: ['write not in the log', 'write not in the log once', 'outcome still unknown', 'webhook missing'],
    file: 'packages/event-store/src/append/append.ts',
    text: 'const result = await withTimeout(appending,',
    replacement: `appending.catch(() => undefined)
      const before = expected === 'no_stream' ? -1n : expected
      const result = (() => ({ success: true, nextExpectedRevision: before + BigInt(events.length) }))(`,
  },
  {
    name: 'append at any revision',
    rules: ['write not in the log once', 'outcome recorded twice'],
    file: 'packages/event-store/src/append/append.ts',
    text: "expected === 'no_stream' ? NO_STREAM : expected",
    replacement: "'any'",
  },
  {
    name: 'checkpoint before its rows',
    rules: ['payment not listed once', 'list differs from the log'],
    file: 'projections/src/apply/applier.ts',
    text: 'await moveCheckpoint(client, name, reached, position)',
    replacement: `await moveCheckpoint(pool, name, reached, position)
        ${later(100)}`,
    kills: 'projector',
  },
  {
    name: 'Idempotency-Key forgotten',
    rules: ['two results for one request'],
    file: 'packages/commands/src/request/requestIdentity.ts',
    text: 'const id = uuidv5(JSON.stringify([callerScope(hash, actor, client), route, key]), namespace)',
    replacement: 'const id = randomUUIDv7()',
  },
  {
    name: 'another key for each call to the provider',
    rules: ['two payable intents', 'charged more than once'],
    file: 'packages/commands/src/payments/createIntent.ts',
    text: 'idempotency_key: create.attempt === 1 ? payment_id',
    replacement: 'idempotency_key: create.attempt > 0 ? payment_id.concat(String(Math.random()))',
    env: impatient,
  },
  {
    name: 'unknown outcome taken for a failure',
    rules: ['wrong intent', 'wrong status'],
    file: 'packages/commands/src/provider-calls/providerOperation.ts',
    text: "return { outcome: 'unknown', error_code: null, ...reason }",
    replacement: "return { outcome: 'rejected', error_code: 'provider_rejected', ...reason }",
    env: impatient,
  },
  {
    name: 'late failure after the success',
    rules: ['wrong status', 'outcome recorded twice'],
    file: 'packages/domain/src/payments/statusReports.ts',
    text: "if (isAbsorbing(payment.status)) return ignoredBecause('final')",
    replacement: `if (isAbsorbing(payment.status))
    return command.status === 'failed' ? statusEvent(command, payment) : ignoredBecause('final')`,
  },
  {
    name: 'refund a cent too small',
    rules: ['write altered'],
    file: 'packages/commands/src/payments/refundPayment.ts',
    text: 'amount_cents,\n    is_whole:',
    replacement: 'amount_cents: Math.max(1, amount_cents - 1),\n    is_whole:',
  },
  {
    name: 'whole amount captured instead of a part',
    rules: ['write altered'],
    file: 'packages/commands/src/payments/intentCalls.ts',
    text: 'amount_cents: capture_cents })',
    replacement: 'amount_cents: existingPayment(state).total_cents })',
  },
  {
    name: 'cancellation not sent to the provider',
    rules: ['wrong status'],
    file: 'packages/commands/src/payments/intentCalls.ts',
    text: "if (call === 'cancel') return provider.cancelIntent(ref)",
    replacement: "if (call === 'cancel') return null",
  },
  {
    name: 'notification answered before it is recorded',
    rules: ['webhook missing'],
    file: 'packages/commands/src/notifications/routes.ts',
    text: 'const { provider_event_id, postponed } = await receiveNotification(workflow, {',
    replacement: `const provider_event_id = ''
          const postponed = undefined
          const receive = async (incoming) => {
            ${later(100)}
            await receiveNotification(workflow, incoming)
          }
          void receive({`,
    kills: 'command-api-1',
  },
  {
    name: "forged notification of Stripe's",
    rules: ['forged notification accepted'],
    file: 'packages/providers/src/stripe/stripe.ts',
    text: 'verifyTimedSignature(signatureHeader, options.webhookSecrets, notification)',
    replacement: '',
  },
  {
    name: "everybody's payments in every list",
    rules: ["another owner's data"],
    file: 'packages/queries/src/payments/queries.ts',
    text: ": item('item.owner', '=', owner)",
    replacement: ": item.or([item('item.owner', '=', owner), item('item.created_at', 'is not', null)])",
  },
  {
    name: "everybody's webhooks in every log",
    rules: ["another owner's data"],
    file: 'packages/queries/src/webhook-logs/routes.ts',
    text: "return hasRight(caller, 'read') ? undefined : user_id",
    replacement: 'return undefined',
  },
  {
    name: 'cancellations missing in the list',
    rules: ['list differs from the log'],
    file: 'projections/src/payments/projection.ts',
    text: "PaymentCanceled: report('canceled'),",
    replacement: '',
  },
  {
    name: 'read that does not wait for the write',
    rules: ['own write not shown'],
    file: 'packages/queries/src/readAfter.ts',
    text: 'if (missing({ position, projections }).length === 0) return true',
    replacement: 'return true',
  },
  {
    name: 'event skipped by the worker',
    rules: ['webhook missing'],
    file: 'packages/webhooks/src/deliveries/dispatch/dispatcher.ts',
    text: 'await recordAll({ events, position: batch.position })',
    replacement: `const kept = events.filter(({ position }) => position.commit % 20n !== 0n)
      await recordAll({ events: kept, position: batch.position })`,
  },
  {
    name: 'another webhook-id for each attempt',
    rules: ['webhook with several ids'],
    file: 'packages/webhooks/src/deliveries/send/sender.ts',
    text: 'const { id, is_test: isTest, source_revision: sequence } = delivery',
    replacement: `const { is_test: isTest, source_revision: sequence } = delivery
    const id = crypto.randomUUID()`,
  },
  {
    name: 'webhooks signed with a wrong secret',
    rules: ['wrong signature'],
    file: 'packages/webhooks/src/deliveries/send/sender.ts',
    text: 'secrets: endpoint.secrets, sequence',
    replacement: "secrets: endpoint.secrets.map((secret) => secret.replace(/.{4}$/, 'AAA=')), sequence",
  },
  {
    name: 'webhooks for all endpoints',
    rules: ['webhook at a wrong endpoint'],
    file: 'packages/webhooks/src/messages/outbound.ts',
    text: 'return isMode && patterns.some((pattern) => matchesPattern(pattern, message.names))',
    replacement: 'return isMode',
  },
  {
    name: 'webhook amount in major units',
    rules: ['wrong amount'],
    file: 'packages/webhooks/src/messages/webhookFacts.ts',
    text: 'provider, timestamp, amount, currency:',
    replacement: 'provider, timestamp, amount: amount === null ? null : amount / 100, currency:',
  },
  {
    name: 'line missing in the export',
    rules: ['export differs from the log'],
    file: 'packages/event-store/src/export/exportPage.ts',
    text: 'if (!isSelected(event)) continue',
    replacement: "if (event.type === 'PaymentSucceeded') continue",
  },
  {
    name: 'leaf missing in the tree of the log',
    rules: ['checkpoint contradicts the log'],
    file: 'packages/audit-log/src/treeWriter.ts',
    text: 'async append({ events, position }) {',
    replacement: `async append({ events: read, position }) {
      const events = read.filter(({ type }) => type !== 'PaymentSucceeded')`,
  },
]

/** @throws for a name that no planted fault has */
export function plantsNamed(names: readonly string[]): readonly Plant[] {
  return names.map((name) => {
    const plant = plants.find((each) => each.name === name)
    if (plant === undefined) throw new Error(`There is no planted fault "${name}"`)
    return plant
  })
}

/** @throws unless the text occurs once */
export function withPlant({ file, text, replacement }: Plant, source: string): string {
  const times = source.split(text).length - 1
  if (times !== 1) throw new Error(`${file} has ${JSON.stringify(text)} ${times} times`)
  return source.replace(text, () => replacement)
}
