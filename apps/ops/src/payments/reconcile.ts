// `payments reconcile`: compares payments with their providers and records missed changes.

import type { Workflow } from '@paylog/commands/context'
import { isCreateRejected } from '@paylog/domain/payments/providerCall'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import { operatorMetadata } from '../auditTrail.ts'
import { messageOf, OpsError } from '../command.ts'
import { defineCommand, type Result, type Run } from '../defineCommand.ts'
import { flag, time } from '../options.ts'
import { partOfLog } from '../progressLine.ts'
import { counted } from '../texts.ts'
import { queryProviders } from './queryProviders.ts'
import { createTally, isRemarkable, resultJson, resultText, type Tally } from './resultText.ts'

const paymentStreams = ['payment-']

export const paymentsReconcile = defineCommand({
  summary: 'Compare every open payment with its provider, and record missed changes',
  options: { since: time('only payments created since then'), all: flag('also succeeded and canceled payments') },
  audited: 'reason',
  json: 'one object per finding, then one with the counts',
  about: [
    'Exits with 0 when every payment matches its provider, if necessary after this run; with 1 when a payment is missing,',
    'different, in conflict or unknown, when a provider could not be reached, or when the run was interrupted.',
    'It may be interrupted and repeated at any time.',
  ],
  onInterrupt: 'finishes',
  async run(call) {
    const { since, all } = call.options
    const workflow = await call.open.workflow()
    const details = { since: since === undefined ? null : new Date(since).toISOString(), all }
    await call.audit({ action: 'reconcile_payments', target: null, details })
    return await reconcile(workflow, createPaymentSelection({ since, all }), call)
  },
})

type ReconcileRun = Pick<Run, 'isJson' | 'print' | 'progress' | 'signal'>

/**
 * Reads the log, queries the providers, and prints the results, also those found before an interruption or an error.
 * @throws OpsError when it is interrupted earlier; UnreadableEventError, DomainError `event_store_unavailable`
 */
export async function reconcile(workflow: Workflow, selection: PaymentSelection, run: ReconcileRun): Promise<Result> {
  const { isJson, print, progress, signal } = run
  await select(workflow.store, selection, run)
  const { payments } = selection
  const of = payments.size
  const tally = createTally()
  let hasLines = false
  let problem: string | undefined
  try {
    for await (const response of queryProviders(workflow, payments, { metadata: operatorMetadata(), signal })) {
      tally.add(response)
      progress.show({ step: 'Checking', done: tally.checked(), of, unit: 'payments' })
      if (!isRemarkable(response)) continue
      await print(isJson ? JSON.stringify(resultJson(response)) : resultText(response))
      hasLines = true
    }
  } catch (error) {
    problem = messageOf(error)
  }
  return {
    json: tally.json(of),
    text: `${hasLines ? '\n' : ''}${summaryText(tally, of)}`,
    problem: problem ?? problemOf(tally, of),
  }
}

function problemOf(tally: Tally, of: number): string | undefined {
  const unsettled = tally.unsettled()
  if (tally.checked() < of) return `Interrupted: ${tally.checked()} of ${of} payments were checked.`
  return unsettled > 0 ? `${counted(unsettled, 'payment needs', 'payments need')} attention.` : undefined
}

/** @throws OpsError after an interruption */
async function select(store: EventStore, selection: PaymentSelection, { progress, signal }: ReconcileRun) {
  const head = await store.head()
  if (head === undefined) return
  let done = 0
  for await (const event of store.readLog({ prefixes: paymentStreams })) {
    if (signal.aborted) throw new OpsError('Interrupted before any payment was checked.')
    selection.apply(event)
    progress.show({
      ...{ step: 'Reading', done: ++done, unit: 'events', part: partOfLog(event.position.commit, head.commit) },
      also: `${selection.payments.size} payments to check`,
    })
  }
}

function summaryText(tally: Tally, of: number): string {
  if (of === 0) return 'There is no payment to check.'
  const checked = tally.checked()
  const heading =
    checked === of
      ? `${counted(of, 'payment')}:`
      : `${checked} of ${counted(of, 'payment')}, the others were not checked:`
  return `${heading}\n${tally.text()}`
}

export type PaymentSelection = {
  /** Payment id to provider id, in the order in which the provider calls started. */
  readonly payments: ReadonlyMap<string, string>
  /** Applies the next event of the log. */
  apply(event: Recorded): void
}

/**
 * Selects payments that may exist at their provider: those with a create call since `since`, unless the provider
 * rejected the call, and unless the payment has succeeded or was canceled.
 * @param options `since` in ms; `all` keeps succeeded and canceled payments
 */
export function createPaymentSelection({
  since,
  all,
}: {
  readonly since: number | undefined
  readonly all: boolean
}): PaymentSelection {
  const payments = new Map<string, string>()
  return {
    payments,
    apply(event) {
      switch (event.type) {
        case 'PaymentInitiated':
        case 'PaymentAttemptStarted': {
          const { payment_id, provider_id, occurred_at } = event.data
          if (since === undefined || Date.parse(occurred_at) >= since) payments.set(payment_id, provider_id)
          return
        }
        case 'ProviderCallFailed':
          if (isCreateRejected(event.data)) payments.delete(event.data.payment_id)
          return
        case 'PaymentSucceeded':
        case 'PaymentCanceled':
          if (!all) payments.delete(event.data.payment_id)
          return
      }
    },
  }
}
