// The sandbox's hosted page: its address, and what its payer decides there.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isAbsorbing } from '@paylog/domain/payments/payment'
import type { HostedPage, PageState, PayerDecision } from '../hostedPage.ts'
import { refundedOf, type SandboxIntent, withReport } from './intent.ts'
import type { IntentChange, SandboxMemory, SandboxOutbox } from './memory.ts'
import { actionRequiredCard, approvalCard, disputeCard } from './methods.ts'
import { approved, readNotification } from './notifications.ts'
import {
  approvalEvent,
  disputeEvent,
  nextReportSeconds,
  notificationOf,
  outcomeEvent,
  postNotification,
  type SandboxEvent,
} from './reports.ts'

/** How long a payment that the payer pays later is processing. */
const settlesAfterSeconds = 10

export type SandboxPage = HostedPage & {
  /** The address of the intent's page, which nobody can guess. */
  urlOf(intentId: string): string
}

/** @param options `url`: what the addresses begin with; `webhookSecrets`: the key of an address derives from the first, and counts as long as its secret is among them */
export function createSandboxPage(options: {
  readonly url: string
  readonly webhookSecrets: readonly string[]
  readonly memory: Pick<SandboxMemory, 'read'> & SandboxOutbox
}): SandboxPage {
  const { url, webhookSecrets, memory } = options
  const [secret = ''] = webhookSecrets

  return {
    origin: new URL(url).origin,
    urlOf: (intentId) => `${url}/${intentId}/${keyOf(secret, intentId).toString('base64url')}`,
    isAddress(intentId, key) {
      const given = Buffer.from(key, 'base64url')
      return webhookSecrets.some((each) => isSame(given, keyOf(each, intentId)))
    },
    async read(intentId) {
      const intent = await memory.read(intentId)
      return intent ? pageState(intent) : null
    },
    async decide(intentId, { decision, seen, isManual }) {
      const intent = await memory.change(intentId, (known) =>
        isPayable(known) && versionOf(known) === seen ? decided(known, decision, isManual) : undefined,
      )
      return intent ? pageState(intent) : null
    },
    async deliver(receiver, onFailure) {
      for (let due = await memory.due(); due.length > 0; due = await memory.due()) {
        for (const { id, body } of due) {
          try {
            await postNotification(receiver, secret, body)
            await memory.delivered(id)
          } catch (error) {
            onFailure(error)
          }
        }
      }
    },
  }
}

/** Another text than signatures are made of, which begins with digits. */
const keyOf = (secret: string, intentId: string) => createHmac('sha256', secret).update(`page ${intentId}`).digest()

const isSame = (a: Buffer, b: Buffer) => a.length === b.length && timingSafeEqual(a, b)

const isPayable = ({ status }: SandboxIntent) => !isAbsorbing(status) && status !== 'processing'

const versionOf = ({ reported_at }: SandboxIntent) => reported_at ?? ''

function pageState(intent: SandboxIntent): PageState {
  const { payment_id, status, amount_cents, currency, capturable_cents, received_cents, token } = intent
  return {
    payment_id,
    status,
    amount_cents,
    currency,
    is_payable: isPayable(intent),
    asks_first: token === actionRequiredCard,
    capturable_cents,
    received_cents,
    refunded_cents: refundedOf(intent),
    version: versionOf(intent),
  }
}

function decided(intent: SandboxIntent, decision: PayerDecision, isManual: boolean): IntentChange {
  const created = nextReportSeconds(intent.reported_at)
  const bodies = (events: readonly SandboxEvent[], from: number) =>
    events.map((event, index) => notificationOf(event, from + index).body)
  const now = bodies(decision === 'pay' ? paid(intent, isManual) : [outcomeEvent(intent, statusOf[decision])], created)
  const later = decision === 'later' ? bodies(paid(intent, isManual), created + settlesAfterSeconds) : []
  return {
    intent: now.reduce(withNotified, intent),
    notifications: [
      ...now.map((body) => ({ body, delay_seconds: 0, only_while: null })),
      // Unless another report comes first. A dispute follows the success.
      ...later.map((body, index) => {
        const only_while = index === 0 ? ('processing' as const) : ('succeeded' as const)
        return { body, delay_seconds: settlesAfterSeconds, only_while }
      }),
    ],
  }
}

const statusOf = { later: 'processing', decline: 'failed' } as const

/** What follows from the test method when the payer pays. */
function paid(intent: SandboxIntent, isManual: boolean): readonly SandboxEvent[] {
  if (intent.token === approvalCard) return [approvalEvent(intent)]
  if (isManual) return [outcomeEvent(intent, 'authorized')]
  const succeeded = outcomeEvent(intent, 'succeeded')
  return intent.token === disputeCard ? [succeeded, disputeEvent(intent, intent.amount_cents, 'open')] : [succeeded]
}

/** The intent as it is when its notification arrives. */
function withNotified(intent: SandboxIntent, body: string): SandboxIntent {
  const { report, status } = readNotification(Buffer.from(body))
  return report?.about === 'status' ? withReport(intent, report, status === approved) : intent
}
