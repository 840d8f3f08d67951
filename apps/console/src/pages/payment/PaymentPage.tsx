// One payment, now or as of a moment: what it is, what happened, and what can be done.
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { statusOf } from '../../api/apiErrors.ts'
import type { HistoryEntry, Payment } from '../../api/apiTypes.ts'
import {
  eventsQuery,
  historyQuery,
  paymentDeliveriesQuery,
  paymentQuery,
  paymentTrailQuery,
} from '../../api/paymentQueries.ts'
import { Identifier } from '../../parts/Identifier.tsx'
import { Page } from '../../parts/Page.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { useReason } from '../../parts/reason.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../parts/states.tsx'
import { useMay } from '../../session/rights.ts'
import { AsOfBar } from './AsOfBar.tsx'
import { PaymentActions } from './actions/PaymentActions.tsx'
import { ActorNames } from './actorNames.ts'
import { entriesUntil, momentsOf } from './asOf.ts'
import { Attention, Disputes, Refunds } from './MoneyBack.tsx'
import { payerOf } from './moneyBack.ts'
import { PaymentFacts } from './PaymentFacts.tsx'
import { PaymentSummary } from './PaymentSummary.tsx'
import { PaymentTools } from './PaymentTools.tsx'
import { RawEvents } from './RawEvents.tsx'
import { TimelineView } from './TimelineView.tsx'
import { timelineAsOf, timelineOf } from './timeline.ts'

const route = getRouteApi('/payments/$id')
const noEntries: readonly HistoryEntry[] = []

export function PaymentPage() {
  const { id } = route.useParams()
  const { as_of: asOf } = route.useSearch()
  const navigate = route.useNavigate()
  const resource = useQuery(paymentQuery(id, asOf))
  const history = useQuery(historyQuery(id))
  const payment = resource.data?.payment
  const entries = history.data ?? noEntries
  const choose = (chosen: string | undefined) => void navigate({ search: { as_of: chosen }, replace: true })
  return (
    <Page
      title={payment?.concept?.trim() || payment?.description?.trim() || 'Payment'}
      lead={<Identifier value={id} name="the payment id" />}
      actions={
        payment &&
        asOf === undefined && (
          // The key ends an open dialog when the browser goes back to another payment.
          <PaymentActions key={id} payment={payment} entries={entries} etag={resource.data?.etag ?? null} />
        )
      }
    >
      <div className="panels">
        {resource.isError && <Missing error={resource.error} asOf={asOf} retry={() => void resource.refetch()} />}
        {resource.isError && asOf !== undefined && (
          <AsOfBar moments={momentsOf(entries)} asOf={asOf} choose={choose} close={() => choose(undefined)} />
        )}
        {resource.isPending && <LoadingState what="the payment" />}
        {payment && (
          <PaymentBody
            key={id}
            id={id}
            payment={payment}
            entries={entries}
            asOf={asOf}
            history={history}
            tools={<PaymentTools id={id} entries={entries} asOf={asOf} choose={choose} />}
          />
        )}
      </div>
    </Page>
  )
}

function PaymentBody(props: {
  readonly id: string
  readonly payment: Payment
  readonly entries: readonly HistoryEntry[]
  readonly asOf: string | undefined
  readonly history: Pick<UseQueryResult, 'isPending' | 'error' | 'refetch'>
  readonly tools: ReactNode
}) {
  const { id, payment, asOf, history, tools } = props
  const [isRead, setRead] = useState(false)
  const { reason, reasonField } = useReason()
  const may = useMay()
  const events = useQuery({ ...eventsQuery(id, reason), enabled: isRead })
  const deliveries = useQuery(paymentDeliveriesQuery(id))
  const trail = useQuery(paymentTrailQuery(id))
  const entries = entriesUntil(props.entries, asOf)
  const whole = timelineOf(props.entries, events.data ?? [], deliveries.data ?? [])
  const payer = payerOf(props.entries)
  return (
    <ActorNames value={{ payerId: payer.userId, trail: trail.data ?? [] }}>
      <PaymentSummary payment={payment} payer={payer} entries={entries} tools={tools} />
      <Attention entries={payment.attention} />
      <div className="columns paymentColumns">
        <div className="panels">
          <Refunds entries={entries} currency={payment.currency} />
          <Disputes entries={entries} currency={payment.currency} />
          <Panel title="Timeline">
            {history.error && <ErrorState error={history.error} retry={() => void history.refetch()} />}
            {history.isPending && <LoadingState what="the timeline" />}
            {deliveries.isError && <ErrorState error={deliveries.error} retry={() => void deliveries.refetch()} />}
            <TimelineView timeline={timelineAsOf(whole, asOf, entries.at(-1)?.revision ?? -1)} />
          </Panel>
        </div>
        <PaymentFacts payment={payment} payer={payer} />
      </div>
      {may('listRecordedEvents') && (
        <RawEvents query={events} asOf={asOf} reasonField={reasonField} isRead={isRead} read={() => setRead(true)} />
      )}
    </ActorNames>
  )
}

function Missing(props: { readonly error: unknown; readonly asOf: string | undefined; readonly retry: () => void }) {
  const { error, asOf, retry } = props
  const isMissing = statusOf(error) === 404
  if (!isMissing) return <ErrorState error={error} retry={retry} />
  return (
    <div className="panel">
      <EmptyState title={asOf === undefined ? 'No payment with this id' : 'The payment did not exist at that time'}>
        <Link to="/payments">All payments</Link>
      </EmptyState>
    </div>
  )
}
