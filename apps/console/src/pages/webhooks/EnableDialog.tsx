// Enables an endpoint that responded 410 Gone.
import { ActionDialog } from '../../actions/ActionDialog.tsx'
import { useAction } from '../../actions/useAction.ts'
import { api, dataOf } from '../../api/api.ts'
import type { EndpointReport } from '../../api/apiTypes.ts'
import { reasonHeader, useReason } from '../../parts/reason.tsx'
import { Time } from '../../parts/Time.tsx'
import { deliveriesText } from './deliveriesText.ts'
import { endpointName } from './endpointName.ts'
import { useWebhookRefresh } from './webhookQueries.ts'

export function EnableDialog({ endpoint, close }: { readonly endpoint: EndpointReport; readonly close: () => void }) {
  const { reason, reasonField } = useReason()
  const enable = useAction({
    name: `enable endpoint ${endpoint.endpoint}`,
    effect: 'once',
    send: (text: string) =>
      dataOf(api.enableWebhookEndpoint({ path: { endpoint: endpoint.endpoint }, header: reasonHeader(text) })),
    onResponse: useWebhookRefresh(),
  })
  const { result } = enable
  return (
    <ActionDialog
      title={`Enable ${endpointName(endpoint)}`}
      action={enable}
      confirm="Enable"
      fields={reasonField}
      success={result && `${deliveriesText(result.held)} waited, and ${result.held === 1 ? 'is' : 'are'} sent now.`}
      close={close}
      submit={() => enable.submit(reason)}
    >
      {result === undefined && (
        <p>
          It responded 410 Gone and is paused since <Time value={endpoint.disabled_at} />.{' '}
          {deliveriesText(endpoint.pending)} waited since then and will be sent within seconds.
        </p>
      )}
    </ActionDialog>
  )
}
