// The timeline: what happened, who caused it, and what followed.
import { UnstyledButton } from '@mantine/core'
import { useId, useState } from 'react'
import { Badge } from '../../parts/Badge.tsx'
import { Facts } from '../../parts/Facts.tsx'
import { Identifier } from '../../parts/Identifier.tsx'
import { JsonView } from '../../parts/JsonView.tsx'
import { Time } from '../../parts/Time.tsx'
import { useActorText } from './actorNames.ts'
import { DeliveryRow } from './DeliveryRow.tsx'
import { summaryOf, titleOf } from './eventText.ts'
import type { Timeline, TimelineItem } from './timeline.ts'

export function TimelineView({ timeline }: { readonly timeline: Timeline }) {
  return (
    <>
      <ol className="timeline" aria-label="Events, the oldest first">
        {timeline.items.map((item) => (
          <TimelineEvent key={item.revision} item={item} />
        ))}
      </ol>
      {timeline.otherDeliveries.length > 0 && (
        <div className="otherDeliveries">
          <h3>Other webhooks about this payment</h3>
          <ul className="deliveries">
            {timeline.otherDeliveries.map((delivery) => (
              <DeliveryRow key={delivery.id} delivery={delivery} />
            ))}
          </ul>
        </div>
      )}
    </>
  )
}

function TimelineEvent({ item }: { readonly item: TimelineItem }) {
  const [isOpen, setOpen] = useState(false)
  const detailsId = useId()
  const { type, actor, causedBy, isNewStatus, statusAfter, deliveries, revision } = item
  const summary = summaryOf(type, item.data)
  const actorText = useActorText()
  return (
    <li data-quiet={statusAfter === null} data-turn={isNewStatus}>
      <div className="eventLine">
        <UnstyledButton
          className="eventTitle"
          aria-expanded={isOpen}
          aria-controls={detailsId}
          onClick={() => setOpen(!isOpen)}
        >
          {titleOf(type)}
        </UnstyledButton>
        {isNewStatus && statusAfter !== null && <Badge text={statusAfter} />}
        <span className="eventTime">
          <Time value={item.occurred_at} />
        </span>
      </div>
      {summary !== '' && <p className="eventSummary">{summary}</p>}
      <p className="hint wrap">
        by {actorText(actor)}
        {causedBy && `, because of event ${causedBy.revision}: ${titleOf(causedBy.type)}`}
      </p>
      <div id={detailsId} hidden={!isOpen}>
        {isOpen && <EventDetails item={item} revision={revision} />}
      </div>
      {deliveries.length > 0 && (
        <ul className="deliveries" aria-label="Webhooks that followed">
          {deliveries.map((delivery) => (
            <DeliveryRow key={delivery.id} delivery={delivery} />
          ))}
        </ul>
      )}
    </li>
  )
}

function EventDetails({ item, revision }: { readonly item: TimelineItem; readonly revision: number }) {
  return (
    <div className="stack eventDetails">
      <Facts
        facts={[
          ['Event', `${revision}: ${item.type}`],
          ['Actor', item.actor],
          ['Request or notification', <Identifier key="r" value={item.correlationId} name="the request id" />],
          ['Cause', <Identifier key="c" value={item.causationId} name="the id of the cause" />],
        ]}
      />
      <JsonView label={`Data of event ${revision}`} value={item.data} />
    </div>
  )
}
