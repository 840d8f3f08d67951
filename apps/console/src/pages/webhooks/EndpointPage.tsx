// One endpoint.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Page } from '../../parts/Page.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../parts/states.tsx'
import { EndpointsPanel } from './EndpointsPanel.tsx'
import { endpointsQuery } from './webhookQueries.ts'

const route = getRouteApi('/webhooks/endpoints/$id')

export function EndpointPage() {
  const { id } = route.useParams()
  const query = useQuery(endpointsQuery)
  const endpoint = query.data?.data.find((each) => each.endpoint === id)
  return (
    <Page
      title={`Endpoint ${id}`}
      lead={
        <Link to="/webhooks" search={{ endpoint: id }}>
          Its deliveries
        </Link>
      }
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
      {endpoint && <EndpointsPanel only={id} />}
    </Page>
  )
}
