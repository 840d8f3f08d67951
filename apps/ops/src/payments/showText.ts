// A payment, its history and its deliveries as text.

import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentTimeline } from '@paylog/domain/payments/history'
import type { PaymentResource } from '@paylog/domain/payments/resource'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { table } from '@paylog/runtime/process/table'
import type { ListedDelivery } from '@paylog/webhooks/deliveries/operations/deliveryList'
import { counted, visible } from '../texts.ts'
import type { PaymentDelivery } from './paymentDeliveries.ts'

/** A table of time, event, resulting status and actor. Each row is followed by its cause and by its deliveries. */
export function historyText(events: readonly Recorded<PaymentEvent>[], deliveries: readonly PaymentDelivery[]): string {
  const rows = paymentTimeline(events).map(({ occurred_at, type, status_after, actor }) => [
    occurred_at,
    type,
    status_after,
    visible(actor),
  ])
  const lines = table(['Occurred', 'Event', 'Status after', 'Actor'], rows).split('\n')
  const deliveryLines = tableRows(deliveries.map(({ delivery }) => deliveryCells(delivery)))
  const ofEvent = Map.groupBy(deliveryLines, (_, index) => deliveries[index]?.shownAt)
  const byId = new Map(events.map((event) => [event.id, event]))
  return [
    ...lines.slice(0, headerLines),
    ...events.flatMap((event, index) => [
      lines[headerLines + index],
      `    ${visible(causeText(event, byId.get(event.metadata.causationId)))}`,
      ...(ofEvent.get(event.id) ?? []),
    ]),
  ].join('\n')
}

const headerLines = 2

function causeText(event: Recorded<PaymentEvent>, cause: Recorded<PaymentEvent> | undefined): string {
  if (event.type === 'ProviderNotificationReceived')
    return `${notificationText(event.data)}, caused by request ${event.metadata.correlationId}`
  if (cause?.type === 'ProviderNotificationReceived') return `caused by ${notificationText(cause.data)}`
  if (cause !== undefined) return `caused by ${cause.type} ${cause.id}`
  const stored = 'provider_event_id' in event.data && event.data.provider_event_id
  return `caused by ${stored ? `${event.data.provider_id} ${stored}, ` : ''}request ${event.metadata.correlationId}`
}

type Notification = Extract<PaymentEvent, { type: 'ProviderNotificationReceived' }>['data']

const notificationText = ({ provider_id, provider_event_id, provider_type }: Notification) =>
  `${provider_id} ${provider_event_id} ${provider_type}`

function deliveryCells(delivery: ListedDelivery): readonly string[] {
  const { endpoint, event, mode, status, attempts, id } = delivery
  return [`endpoint ${endpoint}`, visible(event), mode, status, counted(attempts, 'attempt'), timeText(delivery), id]
}

function timeText({ status, next_attempt_at, last_attempt_at }: ListedDelivery): string {
  if (status === 'pending' && next_attempt_at !== null) return `next ${next_attempt_at}`
  return last_attempt_at === null ? '' : `last ${last_attempt_at}`
}

/** Aligned columns without a header. */
function tableRows(rows: readonly (readonly string[])[]): readonly string[] {
  const header = rows[0]?.map(() => '') ?? []
  return table(header, rows, 4).split('\n').slice(headerLines)
}

/** One line per field. */
export function fieldsText(payment: PaymentResource): string {
  const fields = Object.entries(payment)
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields.map(([name, value]) => `  ${name.padEnd(width)}  ${valueText(value)}`).join('\n')
}

function valueText(value: unknown): string {
  if (value === null) return '-'
  return visible(typeof value === 'string' ? value : JSON.stringify(value))
}
