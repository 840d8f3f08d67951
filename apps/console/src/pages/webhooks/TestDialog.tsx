// Sends a test to all endpoints or to one, and leads to its deliveries.
import { Autocomplete, Textarea } from '@mantine/core'
import { canonicalNames } from '@paylog/webhooks/messages/canonicalNames'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ActionDialog } from '../../actions/ActionDialog.tsx'
import { useAction } from '../../actions/useAction.ts'
import { api, dataOf } from '../../api/api.ts'
import type { Delivery, EndpointReport } from '../../api/apiTypes.ts'
import { ErrorState, LoadingState } from '../../parts/states.tsx'
import { DeliveryBadges } from './deliveryColumns.tsx'
import { endpointName, useEndpointName } from './endpointName.ts'
import { failureText } from './failureText.ts'
import { parseTestData } from './testData.ts'
import { useWebhookRefresh } from './webhookQueries.ts'

const example = '{\n  "amount": 2599,\n  "currency": "EUR"\n}'

type Test = Parameters<typeof api.testWebhooks>[0]['body']

/** An event that an endpoint of this mode can get. */
const eventFor = (endpoint: EndpointReport | undefined) =>
  endpoint?.mode === 'raw' || endpoint?.mode === 'legacy' ? 'payment_intent.succeeded' : 'payment.succeeded'

/** @param props `endpoint`: the only one that gets it; without it, all that are subscribed do */
export function TestDialog({ endpoint, close }: { readonly endpoint?: EndpointReport; readonly close: () => void }) {
  const [event, setEvent] = useState(() => eventFor(endpoint))
  const [data, setData] = useState(example)
  const parsed = parseTestData(data)
  const send = useAction({
    name: endpoint === undefined ? 'test webhooks' : `test endpoint ${endpoint.endpoint}`,
    effect: 'once',
    send(body: Test, { key }) {
      const header = { 'idempotency-key': key }
      return endpoint === undefined
        ? dataOf(api.testWebhooks({ header, body }))
        : dataOf(api.testWebhookEndpoint({ path: { endpoint: endpoint.endpoint }, header, body }))
    },
    onResponse: useWebhookRefresh(),
  })
  return (
    <ActionDialog
      title={endpoint === undefined ? 'Send a test' : `Send a test to ${endpointName(endpoint)}`}
      action={send}
      confirm="Send"
      repeat={`Send ${send.openInput?.event} again`}
      fields={
        <>
          <Autocomplete
            label="Event"
            description="A canonical name (Paylog’s own, such as payment.failed), or a generic one (such as invoice.payment_failed)"
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
      report={send.result && <SentTest id={send.result.id} planned={send.result.deliveries.length} />}
      success={
        send.result && (send.result.deliveries.length === 0 ? 'The test is recorded.' : 'The test is on its way.')
      }
      close={close}
      submit={() => {
        if (parsed.problem !== undefined || event.trim() === '') return
        send.submit({ event: event.trim(), ...(parsed.value !== undefined && { test_data: parsed.value }) })
      }}
    >
      <p>
        {endpoint === undefined
          ? 'A made-up event goes to every endpoint that wants it. Receivers see that it is a test.'
          : 'A made-up event goes to this endpoint only, whatever its events are. The receiver sees that it is a test.'}
      </p>
    </ActionDialog>
  )
}

/** Deliveries are created by the worker, a moment after the test was recorded. */
const appearsWithinMs = 1_000

function SentTest({ id, planned }: { readonly id: string; readonly planned: number }) {
  const nameOf = useEndpointName()
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
  if (planned === 0) return <p>No endpoint gets this event, so nothing is sent. Choose another one.</p>
  const deliveries = query.data ?? []
  return (
    <div className="stack" aria-live="polite">
      <p>{planned === 1 ? 'Sent to 1 endpoint' : `Sent to ${planned} endpoints`}</p>
      {query.isError && <ErrorState error={query.error} />}
      {deliveries.length === 0 && !query.isError && <LoadingState what="its deliveries" rows={1} />}
      <ul className="plainList">
        {deliveries.map((delivery) => (
          <li key={delivery.id} className="row">
            <Link to="/webhooks/deliveries/$id" params={{ id: delivery.id }} className="wrap">
              {delivery.event} to {nameOf(delivery.endpoint)}
            </Link>
            <DeliveryBadges delivery={delivery} />
            {delivery.last_error !== null && failureText(delivery.last_error, delivery.last_http_status)}
          </li>
        ))}
      </ul>
    </div>
  )
}
