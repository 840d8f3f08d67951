// How far the log proves itself.
import { useQuery } from '@tanstack/react-query'
import type { SystemState } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import { Facts } from '../../parts/Facts.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { LoadingState } from '../../parts/states.tsx'
import { Dash, Time } from '../../parts/Time.tsx'
import { systemQuery } from './systemQueries.ts'

export function LogPanel() {
  const { data } = useQuery(systemQuery)
  return (
    <Panel title="The log">
      <div className="stack">
        <p className="hint">
          Everything that happens is an event in the log, and is never changed. Signed checkpoints prove that: who
          changes the log afterwards cannot make it fit them.
        </p>
        {data === undefined ? <LoadingState what="the state of the log" rows={1} /> : <LogFacts log={data.log} />}
      </div>
    </Panel>
  )
}

function LogFacts({ log }: Pick<SystemState, 'log'>) {
  if (log === null) return <Badge text="not known: Postgres does not respond" tone="warn" />
  const { events, signed_events, signed_at, stopped_because } = log
  return (
    <Facts
      facts={[
        ['State', <LogBadge key="state" log={log} />],
        [
          'Events',
          <span key="events" className="number">
            {events.toLocaleString()}
          </span>,
        ],
        ['Signed', signed_events === null ? <Dash key="signed" /> : signed_events.toLocaleString()],
        ['Last checkpoint', <Time key="at" value={signed_at} />],
        stopped_because !== null && [
          'What disagrees',
          <span key="why" className="longText">
            {stopped_because}. Nothing is signed until somebody has looked: ops audit verify names the difference.
          </span>,
        ],
      ]}
    />
  )
}

function LogBadge({ log }: { readonly log: NonNullable<SystemState['log']> }) {
  if (log.stopped_because !== null) return <Badge text="does not verify" tone="bad" />
  if (log.signed_events === null) return <Badge text="not signed" tone="warn" />
  return <Badge text="signed" tone="good" />
}
