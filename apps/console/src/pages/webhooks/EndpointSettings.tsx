// How an endpoint is configured.
import type { EndpointReport } from '../../api/apiTypes.ts'
import { formatDuration } from '../../format/time.ts'
import { Facts } from '../../parts/Facts.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { retriesText } from './retriesText.ts'

const modes: Readonly<Record<NonNullable<EndpointReport['mode']>, string>> = {
  canonical: 'Paylog’s own events (canonical)',
  raw: 'what providers send, as it is (raw)',
  both: 'Paylog’s own events, and what providers send (both)',
  legacy: 'the short form of version 0 (legacy)',
}

export function EndpointSettings({ endpoint }: { readonly endpoint: EndpointReport }) {
  const { events, mode, format, retry_schedule, timeout_ms, url, endpoint: id } = endpoint
  return (
    <Panel title="Settings">
      <div className="stack">
        {url !== null && (
          <Facts
            facts={[
              ['Events', events?.join(', ')],
              ['Content', mode && modes[mode]],
              ['Format', format === 'json' ? 'JSON' : `a message for ${format}`],
              ['It has to respond within', timeout_ms && formatDuration(timeout_ms / 1_000)],
              [
                'Retries',
                retry_schedule && (
                  <span key="retries" className="longText">
                    {retriesText(retry_schedule)}
                  </span>
                ),
              ],
            ]}
          />
        )}
        <p className="hint">
          {id.startsWith('legacy-') ? (
            <>
              From the list <code>EXTERNAL_WEBHOOK_URLS</code> in the environment of Paylog’s processes.
            </>
          ) : (
            <>
              From the variables <code>WEBHOOK_{id}_…</code> in the environment of Paylog’s processes. A change counts
              from their next start.
            </>
          )}
        </p>
      </div>
    </Panel>
  )
}
