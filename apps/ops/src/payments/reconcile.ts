// `payments reconcile`: asks the providers what became of the payments, and records what had been missed.
import { randomUUID } from 'node:crypto'
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { createEventStore, type EventStore } from '@paylog/event-store/eventStore'
import type { Workflow } from '@paylog/workflows/context'
import { enabledProviders, providerVariables } from '@paylog/workflows/enabledProviders'
import { Type } from 'typebox'
import { type CliCommand, OpsError, readArguments } from '../command.ts'
import { type ReportWriter, createReportWriter } from '../progress.ts'
import { readSince } from '../since.ts'
import { withInterrupt } from '../withInterrupt.ts'
import { resultJson, resultText, isRemarkable } from './answerLine.ts'
import { askProviders } from './asking.ts'
import { createReconcileProgress, type ReconcileProgress } from './reconcileProgress.ts'
import { createPaymentSelection, type PaymentSelection } from './selection.ts'
import { createTally, type Tally } from './tally.ts'

const Config = Type.Object({ EVENTSTORE_URL: url(['esdb', 'esdb+discover']), ...providerVariables })

/** Of these events alone the selection is made. */
const paymentStreams = ['payment-']

const noProvider =
  'No provider is enabled. Set the credentials that the apps have: STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET, ' +
  'PAYPAL_CLIENT_ID, PAYPAL_CLIENT_SECRET and PAYPAL_WEBHOOK_ID, or AUTHORIZE_NET_API_LOGIN_ID, ' +
  'AUTHORIZE_NET_TRANSACTION_KEY and AUTHORIZE_NET_SIGNATURE_KEY.'

export const paymentsReconcile: CliCommand = {
  usage: '[--since T] [--all] [--json]',
  summary: 'Ask the providers about every payment that is not at its end, and record what had been missed',
  details: [
    '  --since T  only payments begun since then: 2026-11-01T00:00:00Z, or so long ago: 90m, 24h, 7d',
    '  --all      also payments that have succeeded or were canceled',
    '  --json     one object per finding and a last one with the counts',
    '',
    'Exits with 0 when every payment is as its provider says, at the latest by this run; with 1 when one is missing,',
    'different, in conflict or unknown, when a provider could not be asked, or when the run was interrupted.',
    'It may be interrupted and repeated at any time.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values } = readArguments(args, [], {
      since: { type: 'string' },
      all: { type: 'boolean' },
      json: { type: 'boolean' },
    })
    const since = values.since === undefined ? undefined : readSince(values.since, Date.now())
    const config = loadConfig(Config, environment)
    const providers = await enabledProviders(config)
    if (providers.size === 0) throw new OpsError(noProvider)
    const store = createEventStore({ connectionString: config.EVENTSTORE_URL })
    const progress = createReconcileProgress(errors)
    try {
      const workflow = { store, providers, now: () => new Date() }
      await withInterrupt(errors, (signal) =>
        reconcile(workflow, {
          selection: createPaymentSelection({ since, all: values.all === true }),
          ...createReportWriter(progress, print),
          isJson: values.json === true,
          onProgress: progress.show,
          signal,
        }),
      )
    } finally {
      progress.end()
      await Promise.all([...providers.values()].map((provider) => provider.close()))
      await store.close()
    }
  },
}

type ReconcileRun = ReportWriter & {
  readonly selection: PaymentSelection
  readonly isJson: boolean
  readonly onProgress: (progress: ReconcileProgress) => void
  readonly signal: AbortSignal
}

/**
 * Reads the log, asks, and reports. What was asked is reported and recorded also when it cannot go on to the end.
 * @throws OpsError when something is left to do; UnreadableEventError, DomainError `event_store_unavailable`
 */
export async function reconcile(workflow: Workflow, run: ReconcileRun): Promise<void> {
  const { selection, say, conclude, isJson, onProgress, signal } = run
  await select(workflow.store, run)
  const { payments } = selection
  const tally = createTally()
  let lines = 0
  const metadata = { correlationId: randomUUID(), causationId: 'payments reconcile', actor: 'operator' }
  try {
    for await (const answer of askProviders(workflow, payments, { metadata, signal })) {
      tally.add(answer)
      onProgress({ phase: 'asking', answered: tally.answered(), of: payments.size })
      if (!isRemarkable(answer)) continue
      await say(isJson ? JSON.stringify(resultJson(answer)) : resultText(answer))
      lines++
    }
  } finally {
    const [gap, summary] = [lines > 0 ? '\n' : '', summaryText(tally, payments.size)]
    await conclude(isJson ? JSON.stringify(tally.json(payments.size)) : `${gap}${summary}`)
  }
  if (tally.answered() < payments.size)
    throw new OpsError(`Interrupted: ${tally.answered()} of ${payments.size} payments were asked about.`)
  const unsettled = tally.unsettled()
  if (unsettled > 0) throw new OpsError(`${count(unsettled)} ${unsettled === 1 ? 'needs' : 'need'} a look.`)
}

async function select(store: EventStore, { selection, onProgress, signal }: ReconcileRun): Promise<void> {
  const head = await store.head()
  if (head === undefined) return
  let events = 0
  for await (const event of store.readLog({ prefixes: paymentStreams })) {
    if (signal.aborted) throw new OpsError('Interrupted before any provider was asked.')
    selection.take(event)
    events++
    const { payments } = selection
    onProgress({
      phase: 'reading',
      events,
      payments: payments.size,
      position: event.position.commit,
      head: head.commit,
    })
  }
}

function summaryText(tally: Tally, of: number): string {
  if (of === 0) return 'There is no payment to ask about.'
  const answered = tally.answered()
  const asked = answered === of ? `${count(of)}:` : `${answered} of ${count(of)}, the others were not asked about:`
  return `${asked}\n${tally.text()}`
}

const count = (payments: number) => (payments === 1 ? '1 payment' : `${payments} payments`)
