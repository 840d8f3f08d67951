// One endpoint: how it does, since when, what can be done, and its deliveries.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { EndpointReport } from '../../api/apiTypes.ts'
import { Page } from '../../parts/Page.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../parts/states.tsx'
import { useMay } from '../../session/rights.ts'
import { BackfillDialog } from './BackfillDialog.tsx'
import { DeliveriesPanel } from './DeliveriesPanel.tsx'
import { EnableDialog } from './EnableDialog.tsx'
import { EndpointFigures } from './EndpointFigures.tsx'
import { type EndpointAction, EndpointNotice } from './EndpointNotice.tsx'
import { EndpointSettings } from './EndpointSettings.tsx'
import { EndpointBadge } from './EndpointStateView.tsx'
import { endpointName } from './endpointName.ts'
import { RedeliverFailedDialog } from './RedeliverFailedDialog.tsx'
import { TestDialog } from './TestDialog.tsx'
import { endpointsQuery } from './webhookQueries.ts'
import type { EndpointSearch } from './webhooksSearch.ts'

const route = getRouteApi('/webhooks/endpoints/$id')

const dialogs = {
  test: TestDialog,
  enable: EnableDialog,
  redeliver: RedeliverFailedDialog,
  backfill: BackfillDialog,
} satisfies Record<EndpointAction, unknown>

export function EndpointPage() {
  const { id } = route.useParams()
  const query = useQuery(endpointsQuery)
  const endpoint = query.data?.data.find((each) => each.endpoint === id)
  const [action, setAction] = useState<EndpointAction>()
  const Dialog = action && dialogs[action]
  return (
    <Page
      title={endpoint === undefined ? 'Endpoint' : endpointName(endpoint)}
      lead={endpoint && <EndpointLead endpoint={endpoint} />}
      actions={endpoint && <EndpointButtons endpoint={endpoint} start={setAction} />}
    >
      {query.isError && <ErrorState error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <LoadingState what="the endpoint" />}
      {query.data && endpoint === undefined && (
        <div className="panel">
          <EmptyState title="No endpoint with this id">
            <Link to="/webhooks">All endpoints</Link>
          </EmptyState>
        </div>
      )}
      {endpoint && <EndpointBody key={id} endpoint={endpoint} start={setAction} />}
      {endpoint && Dialog && <Dialog endpoint={endpoint} close={() => setAction(undefined)} />}
    </Page>
  )
}

type Acting = { readonly endpoint: EndpointReport; readonly start: (action: EndpointAction) => void }

function EndpointBody({ endpoint, start }: Acting) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changes: EndpointSearch) =>
    void navigate({ search: (now) => ({ ...now, ...changes }), resetScroll: false })
  return (
    <div className="panels">
      <EndpointNotice endpoint={endpoint} start={start} />
      <EndpointFigures endpoint={endpoint} days={search.days} change={change} />
      <EndpointSettings endpoint={endpoint} />
      <DeliveriesPanel search={search} change={change} only={endpoint.endpoint} />
    </div>
  )
}

function EndpointLead({ endpoint }: { readonly endpoint: EndpointReport }) {
  return (
    <span className="row">
      <EndpointBadge endpoint={endpoint} />
      {endpoint.name !== null && endpoint.url !== null && <span className="wrap">{endpoint.url}</span>}
      <Link to="/webhooks">All endpoints</Link>
    </span>
  )
}

function EndpointButtons({ endpoint, start }: Acting) {
  const may = useMay()
  if (endpoint.url === null) return null
  return (
    <>
      {may('backfillWebhooks') && (
        <Button size="xs" variant="default" onClick={() => start('backfill')}>
          Backfill
        </Button>
      )}
      {may('testWebhookEndpoint') && (
        <Button size="xs" variant="default" onClick={() => start('test')}>
          Send a test
        </Button>
      )}
    </>
  )
}
