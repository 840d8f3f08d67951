// Sends a test to the endpoints, and leads to its deliveries.
import { Autocomplete, Textarea } from '@mantine/core'
import { canonicalNames } from '@paylog/webhooks/messages/canonicalNames'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ActionDialog } from '../../actions/ActionDialog.tsx'
import { useAction } from '../../actions/useAction.ts'
import { api, dataOf } from '../../api/api.ts'
import type { Delivery } from '../../api/apiTypes.ts'
import { ErrorState, LoadingState } from '../../parts/states.tsx'
import { DeliveryBadges } from './deliveryColumns.tsx'
import { parseTestData } from './testData.ts'

const example = '{\n  "amount": 2599,\n  "currency": "EUR"\n}'

export function TestDialog({ close }: { readonly close: () => void }) {
  const [event, setEvent] = useState('payment.succeeded')
  const [data, setData] = useState(example)
  const parsed = parseTestData(data)
  const send = useAction({
    name: 'test webhooks',
    effect: 'once',
    send: (body: Parameters<typeof api.testWebhooks>[0]['body'], { key }) =>
      dataOf(api.testWebhooks({ header: { 'idempotency-key': key }, body })),
  })
  return (
    <ActionDialog
      title="Send a test"
      action={send}
      confirm="Send"
      repeat={`Send ${send.openInput?.event} again`}
      fields={
        <>
          <Autocomplete
            label="Event"
            description="A canonical or generic event name"
            data={[...canonicalNames]}
            value={event}
            onChange={setEvent}
            maxDropdownHeight={220}
            limit={30}
            required
          />
          <Textarea
            label="Test data"
            description="JSON: id, amount in minor units, currency, status, customer; may be empty"
            value={data}
            onChange={({ currentTarget }) => setData(currentTarget.value)}
            error={parsed.problem}
            autosize
            minRows={4}
            maxRows={12}
            spellCheck={false}
            className="codeField"
          />
        </>
      }
      success={send.result && <SentTest id={send.result.id} planned={send.result.deliveries.length} />}
      close={close}
      submit={() => {
        if (parsed.problem !== undefined || event.trim() === '') return
        send.submit({ event: event.trim(), ...(parsed.value !== undefined && { test_data: parsed.value }) })
      }}
    >
      <p>A made-up event goes to every endpoint that is subscribed to it. Receivers see that it is a test.</p>
    </ActionDialog>
  )
}

/** Deliveries are created by the worker, a moment after the test was recorded. */
const appearsWithinMs = 1_000

function SentTest({ id, planned }: { readonly id: string; readonly planned: number }) {
  const query = useQuery({
    queryKey: ['deliveries', 'of test', id],
    queryFn: async ({ signal }): Promise<Delivery[]> => {
      const page = dataOf(api.listWebhookDeliveries({ query: { test: 'true', limit: 100 }, signal }))
      return (await page).filter(({ source }) => source.stream === `webhookTest-${id}`)
    },
    enabled: planned > 0,
    refetchInterval: ({ state }) => {
      const isOver = state.data?.length === planned && state.data.every(({ status }) => status !== 'pending')
      return !isOver && appearsWithinMs
    },
  })
  if (planned === 0) return <p>No endpoint receives this event. The test is recorded, and nothing is sent.</p>
  const deliveries = query.data ?? []
  return (
    <div className="stack" aria-live="polite">
      <p>{planned === 1 ? 'Sent to 1 endpoint' : `Sent to ${planned} endpoints`}</p>
      {query.isError && <ErrorState error={query.error} />}
      {deliveries.length === 0 && !query.isError && <LoadingState what="its deliveries" rows={1} />}
      <ul className="plainList">
        {deliveries.map((delivery) => (
          <li key={delivery.id} className="row">
            <Link to="/webhooks/deliveries/$id" params={{ id: delivery.id }}>
              {delivery.event} to endpoint {delivery.endpoint}
            </Link>
            <DeliveryBadges delivery={delivery} />
          </li>
        ))}
      </ul>
    </div>
  )
}
