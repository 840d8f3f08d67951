// The recorded events as they are in the log.
import { Accordion } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { RawEvent } from '../../api/apiTypes.ts'
import { JsonView } from '../../parts/JsonView.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../parts/states.tsx'
import { entriesUntil } from './asOf.ts'

const occurredAt = (event: RawEvent) =>
  typeof event.data?.occurred_at === 'string' ? event.data.occurred_at : event.created

export function RawEvents({
  query,
  asOf,
}: {
  readonly query: UseQueryResult<RawEvent[]>
  readonly asOf: string | undefined
}) {
  return (
    <Panel title="Raw events" isFlush>
      <RawEventList query={query} asOf={asOf} />
    </Panel>
  )
}

function RawEventList({
  query,
  asOf,
}: {
  readonly query: UseQueryResult<RawEvent[]>
  readonly asOf: string | undefined
}) {
  if (query.data === undefined) {
    return query.isError ? (
      <ErrorState error={query.error} retry={() => void query.refetch()} />
    ) : (
      <LoadingState what="raw events" rows={3} />
    )
  }
  const events = entriesUntil(
    query.data.map((event) => ({ ...event, occurred_at: occurredAt(event) })),
    asOf,
  )
  if (events.length === 0) return <EmptyState title="No events until then" />
  return (
    <Accordion multiple chevronPosition="left" order={3}>
      {events.map(({ occurred_at: _, ...event }) => (
        <Accordion.Item key={event.id} value={event.id}>
          <Accordion.Control>
            <span className="rawTitle">
              <span className="hint">{event.revision}</span> {event.type}{' '}
              <span className="hint">position {event.position}</span>
            </span>
          </Accordion.Control>
          <Accordion.Panel>
            <JsonView label={`Event ${event.revision}`} value={event} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  )
}
