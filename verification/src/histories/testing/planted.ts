// Faults that the tests plant into the product, each with the seed of a history that finds it.
import type { PlantedFault } from '../job.ts'

export type Planted = PlantedFault & {
  readonly what: string
  readonly seed: number
  /** What the judge says. */
  readonly rule: RegExp
}

export const plantedFaults: readonly Planted[] = [
  {
    what: 'a cancellation has no webhook',
    file: 'webhooks/src/messages/canonical.ts',
    text: "PaymentCanceled: (event) => [payment(event, 'payment.failed', 'canceled')]",
    replacement: 'PaymentCanceled: () => []',
    seed: 20,
    rule: /^webhook missing$/,
  },
  {
    what: 'a repeated create call has another idempotency key',
    file: 'commands/src/payments/createIntent.ts',
    text: 'idempotency_key: create.attempt === 1 ? payment_id :',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text.
    replacement: 'idempotency_key: `${payment_id}-${Math.random()}` ||',
    seed: 2,
    rule: /^(two payable intents|wrong status|received amount differs)$/,
  },
  {
    what: 'an unknown outcome counts as no effect',
    file: 'commands/src/provider-calls/providerOperation.ts',
    text: "if (kind === 'unknown' ||",
    replacement:
      "if (kind === 'unknown') return { outcome: 'rejected', error_code: 'provider_unavailable', ...reason }\n  if (",
    seed: 64,
    rule: /^(wrong status|received amount differs|refunded amount differs|two payable intents)$/,
  },
  {
    what: 'money after a cancellation is ignored',
    file: 'domain/src/payments/statusReports.ts',
    text: "if (payment.status === 'canceled') return true",
    replacement: "if (payment.status === 'canceled') return false",
    seed: 207,
    rule: /^(wrong status|received amount differs|paid after an acknowledged cancellation)$/,
  },
  {
    what: 'the worker does not look again at an open call',
    file: 'worker/src/reconciler/nextCheck.ts',
    text: 'if (isCallOpen) return checkSoon',
    replacement: "if (isCallOpen) return 'over'\n  if (isCallOpen) return checkSoon",
    seed: 274,
    rule: /^(call never ended|wrong status|nobody looks again)$/,
  },
  {
    what: 'a notification is accepted before it is recorded',
    file: 'commands/src/notifications/notifications.ts',
    text: 'else if (await recordInPayment(workflow, { ...received, body: body.toString() }, byBody.payment))',
    replacement:
      'else if (recordInPayment(workflow, { ...received, body: body.toString() }, byBody.payment).catch(() => {}))',
    seed: 1309,
    rule: /^notification not recorded once$/,
  },
  {
    what: 'the worker forgets events when Postgres fails',
    file: 'worker/src/reconciler/reconciler.ts',
    text: 'secrets, at: now() })',
    replacement: 'secrets, at: now() }).catch(() => undefined)',
    seed: 1059,
    rule: /^(nobody looks again|call never ended|wrong status)$/,
  },
]
