// Sends a test to the endpoints, and leads to its deliveries.
import { Autocomplete, Textarea } from '@mantine/core'
import { canonicalNames } from '@paylog/webhooks/canonicalNames'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, dataOf } from '../../api/api.ts'
import type { Delivery } from '../../api/apiTypes.ts'
import { randomKey } from '../../format/randomKey.ts'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { Notice } from '../../parts/Notice.tsx'
import { ErrorState, LoadingState } from '../../parts/states.tsx'
import { DeliveryBadges } from './deliveryColumns.tsx'
import { parseTestData } from './testData.ts'

const example = '{\n  "amount": 2599,\n  "currency": "EUR"\n}'

export function TestDialog({ close }: { readonly close: () => void }) {
  const [event, setEvent] = useState('payment.succeeded')
  const [data, setData] = useState(example)
  // Sending it again after no response must not send two tests.
  const [key, setKey] = useState(randomKey)
  const parsed = parseTestData(data)
  const send = useMutation({
    mutationFn: () => {
      const body = { event: event.trim(), ...(parsed.value !== undefined && { test_data: parsed.value }) }
      return dataOf(api.testWebhooks({ header: { 'idempotency-key': key }, body }))
    },
  })
  const change =
    (set: (value: string) => void) =>
    (value: string): void => {
      set(value)
      setKey(randomKey())
      send.reset()
    }
  return (
    <ConfirmDialog
      opened
      title="Send a test"
      confirm="Send"
      isRunning={send.isPending}
      isOver={send.isSuccess}
      close={close}
      submit={() => parsed.problem === undefined && event.trim() !== '' && send.mutate()}
    >
      <p>A made-up event goes to every endpoint that is subscribed to it. Receivers see that it is a test.</p>
      <Autocomplete
        label="Event"
        description="A canonical or generic event name"
        data={[...canonicalNames]}
        value={event}
        onChange={change(setEvent)}
        maxDropdownHeight={220}
        limit={30}
        required
      />
      <Textarea
        label="Test data"
        description="JSON: id, amount in minor units, currency, status, customer; may be empty"
        value={data}
        onChange={({ currentTarget }) => change(setData)(currentTarget.value)}
        error={parsed.problem}
        autosize
        minRows={4}
        maxRows={12}
        spellCheck={false}
        className="codeField"
      />
      {send.isError && <ErrorState error={send.error} />}
      {send.data && <SentTest id={send.data.id} planned={send.data.deliveries.length} />}
    </ConfirmDialog>
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
  if (planned === 0)
    return (
      <Notice tone="warn" title="No endpoint receives this event">
        The test is recorded, and nothing is sent.
      </Notice>
    )
  const deliveries = query.data ?? []
  return (
    <div className="stack" aria-live="polite">
      <Notice tone="good" title={planned === 1 ? 'Sent to 1 endpoint' : `Sent to ${planned} endpoints`} />
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
