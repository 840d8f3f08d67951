// Asks before a rebuild or a verification, and leads to its job.
import { useQueryClient } from '@tanstack/react-query'
import { ActionDialog } from '../../actions/ActionDialog.tsx'
import { useAction } from '../../actions/useAction.ts'
import { api, dataOf } from '../../api/api.ts'
import type { ProjectionReport } from '../../api/apiTypes.ts'
import { JobLink } from '../../jobs/JobLink.tsx'
import { reasonHeader, useReason } from '../../parts/reason.tsx'

export type Replay = { readonly kind: 'rebuild' | 'verify'; readonly report: ProjectionReport }

const operations = { rebuild: api.rebuildProjection, verify: api.verifyProjection }
const words = { rebuild: 'Rebuild', verify: 'Verify' }
const started = { rebuild: 'The rebuild has started.', verify: 'The verification has started.' }

export function ReplayDialog({ replay, close }: { readonly replay: Replay; readonly close: () => void }) {
  const { kind, report } = replay
  const client = useQueryClient()
  const { reason, reasonField } = useReason()
  const start = useAction({
    name: `${kind} ${report.projection}`,
    effect: 'each time',
    send: (text: string) => dataOf(operations[kind]({ path: { name: report.projection }, header: reasonHeader(text) })),
    onResponse() {
      void client.invalidateQueries({ queryKey: ['jobs'] })
      void client.invalidateQueries({ queryKey: ['projections'] })
    },
  })
  return (
    <ActionDialog
      title={`${words[kind]} ${report.projection}`}
      action={start}
      confirm={words[kind]}
      fields={reasonField}
      success={start.result && <JobLink job={start.result}>{started[kind]}</JobLink>}
      close={close}
      submit={() => start.submit(reason)}
    >
      <p>{kind === 'rebuild' ? rebuildText(report) : verifyText(report)}</p>
      <p className="hint">It reads the whole log, which loads the event store and Postgres. It can be canceled.</p>
    </ActionDialog>
  )
}

const rebuildText = ({ projection }: ProjectionReport) =>
  `A new table of ${projection} is filled from the log beside the live one. Queries go on meanwhile; then they switch to it, and both tables are compared. A rebuild that was canceled or interrupted is continued.`

const verifyText = ({ projection }: ProjectionReport) =>
  `The log is replayed into a separate table, which is compared with the live one of ${projection} as of one moment. Nothing is changed.`
