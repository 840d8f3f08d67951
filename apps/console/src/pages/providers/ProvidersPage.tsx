// The providers: whether each is enabled, whose money it moves, what it last sent, and whether it accepts our credentials.
import { useQuery } from '@tanstack/react-query'
import { providersQuery } from '../../api/frameQueries.ts'
import { Page } from '../../parts/Page.tsx'
import { ErrorState, LoadingState } from '../../parts/states.tsx'
import { ProviderPanel } from './ProviderPanel.tsx'

export function ProvidersPage() {
  const { data = [], isPending, isError, error, refetch } = useQuery(providersQuery)
  const [enabled, others] = [data.filter(({ is_enabled }) => is_enabled), data.filter(({ is_enabled }) => !is_enabled)]
  return (
    <Page title="Providers" lead="Who moves the money: what they send, and whether they accept our credentials">
      <div className="panels">
        {isError && <ErrorState error={error} retry={() => void refetch()} />}
        {isPending && (
          <div className="panel">
            <LoadingState what="providers" />
          </div>
        )}
        <div className="columns">
          {[...enabled, ...others].map((provider) => (
            <ProviderPanel key={provider.id} provider={provider} />
          ))}
        </div>
        <p className="hint">
          What each provider needs, and where it posts its notifications, is in the{' '}
          <a href="/docs">documentation of the API</a>.
        </p>
      </div>
    </Page>
  )
}
