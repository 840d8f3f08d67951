// The recorded events as they are in the log.
import { Accordion, Button } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { RawEvent } from '../../api/apiTypes.ts'
import { JsonView } from '../../parts/JsonView.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../parts/states.tsx'
import { entriesUntil } from './asOf.ts'

const occurredAt = (event: RawEvent) =>
  typeof event.data?.occurred_at === 'string' ? event.data.occurred_at : event.created

/** They are read when one asks for them, because each read is recorded. @param props `read` begins to */
export function RawEvents(props: {
  readonly query: UseQueryResult<RawEvent[]>
  readonly asOf: string | undefined
  readonly reasonField: ReactNode
  readonly isRead: boolean
  readonly read: () => void
}) {
  const { query, asOf, reasonField, isRead, read } = props
  if (isRead)
    return (
      <Panel
        title="Raw events"
        isFlush
        actions={
          <Button size="compact-xs" variant="default" loading={query.isFetching} onClick={() => void query.refetch()}>
            Read again
          </Button>
        }
      >
        <RawEventList query={query} asOf={asOf} />
      </Panel>
    )
  return (
    <Panel title="Raw events">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          read()
        }}
      >
        <p>
          The events as recorded, with client secrets, personal data and the notifications of the provider, which then
          are in the timeline too. Reading them is recorded in the audit trail.
        </p>
        {reasonField}
        <div>
          <Button size="xs" type="submit">
            Read the raw events
          </Button>
        </div>
      </form>
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
