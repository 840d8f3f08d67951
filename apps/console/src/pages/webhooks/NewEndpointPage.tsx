// How to add an endpoint: the lines for the environment, filled in.
import { NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { JsonView } from '../../parts/JsonView.tsx'
import { Page } from '../../parts/Page.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { ErrorState, LoadingState } from '../../parts/states.tsx'
import { isWebUrl } from '../../parts/webUrl.ts'
import { environmentLines, freeNumber, type NewEndpoint, newSecret } from './newEndpoint.ts'
import { endpointsQuery } from './webhookQueries.ts'

const modes = [
  { value: 'canonical', label: 'Paylog’s own events' },
  { value: 'raw', label: 'What providers send, as it is' },
  { value: 'both', label: 'Both' },
]

export function NewEndpointPage() {
  const query = useQuery(endpointsQuery)
  const [given, setGiven] = useState<NewEndpoint>(() => ({
    ...{ name: '', url: '', events: 'payment.*', mode: 'canonical' },
    secret: newSecret(),
  }))
  const change = (changes: Partial<NewEndpoint>) => setGiven({ ...given, ...changes })
  const isUrl = isWebUrl(given.url.trim())
  return (
    <Page title="Add an endpoint" lead={<Link to="/webhooks">All endpoints</Link>}>
      <div className="columns">
        <Panel title="1. What it gets, and where">
          <div className="stack">
            <TextInput
              label="Name"
              description="What people call it, such as Shop"
              maxLength={60}
              value={given.name}
              onChange={({ currentTarget }) => change({ name: currentTarget.value })}
            />
            <TextInput
              label="URL"
              placeholder="https://shop.example.com/paylog"
              description="It gets a POST for each event, and has to respond 200 within 10 seconds"
              value={given.url}
              error={given.url.trim() !== '' && !isUrl && 'Enter an address that begins with https:// or http://'}
              onChange={({ currentTarget }) => change({ url: currentTarget.value })}
            />
            <TextInput
              label="Events"
              description="Names or families, separated by commas: payment.*, customer.created; all for every event"
              value={given.events}
              onChange={({ currentTarget }) => change({ events: currentTarget.value })}
            />
            <NativeSelect
              label="Content"
              data={modes}
              value={given.mode}
              onChange={({ currentTarget }) => change({ mode: currentTarget.value })}
            />
          </div>
        </Panel>
        <Panel title="2. What to do with it">
          <div className="stack">
            <p>
              Endpoints are configured in the environment of Paylog’s processes. Whoever operates them adds these lines:
              in <code>.env</code> or the file of <code>WEBHOOKS_ENV_FILE</code> with containers, before{' '}
              <code>npm start</code> on a laptop.
            </p>
            {query.isError && <ErrorState error={query.error} retry={() => void query.refetch()} />}
            {query.isPending && <LoadingState what="the endpoints" rows={3} />}
            {query.data && (
              <JsonView
                label="Lines for the environment"
                value={environmentLines(freeNumber(query.data.data), isUrl ? given : { ...given, url: 'https://…' })}
              />
            )}
            <p className="hint">
              The secret was made in this page just now, and is kept nowhere: copy it now. The receiver needs it to
              check signatures.
            </p>
            <ol className="steps">
              <li>Restart Paylog’s processes, so that they read the lines.</li>
              <li>
                The endpoint appears under <Link to="/webhooks">Webhooks</Link>. Open it and send it a test.
              </li>
              <li>It gets what happens from then on. What happened before, a backfill sends.</li>
            </ol>
          </div>
        </Panel>
      </div>
    </Page>
  )
}
