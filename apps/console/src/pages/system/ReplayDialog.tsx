// Asks before a rebuild or a verification, and leads to its job.
import { useQueryClient } from '@tanstack/react-query'
import { ActionDialog } from '../../actions/ActionDialog.tsx'
import { useAction } from '../../actions/useAction.ts'
import { api, dataOf } from '../../api/api.ts'
import type { ProjectionReport } from '../../api/apiTypes.ts'
import { JobLink } from '../../jobs/JobLink.tsx'
import { FollowedJob } from '../../jobs/JobView.tsx'
import { useJobEnd } from '../../jobs/useJobEnd.ts'
import { reasonHeader, useReason } from '../../parts/reason.tsx'
import { readModelName } from './readModels.ts'

export type Replay = { readonly kind: 'rebuild' | 'verify'; readonly report: ProjectionReport }

const operations = { rebuild: api.rebuildProjection, verify: api.verifyProjection }
const words = { rebuild: 'Rebuild', verify: 'Verify' }

export function ReplayDialog({ replay, close }: { readonly replay: Replay; readonly close: () => void }) {
  const { kind, report } = replay
  const client = useQueryClient()
  const { reason, reasonField } = useReason()
  const refresh = () => {
    for (const queryKey of [['jobs'], ['projections'], ['system']]) void client.invalidateQueries({ queryKey })
  }
  const start = useAction({
    name: `${kind} ${report.projection}`,
    effect: 'each time',
    send: (text: string) => dataOf(operations[kind]({ path: { name: report.projection }, header: reasonHeader(text) })),
    onResponse: refresh,
  })
  useJobEnd(start.result, refresh)
  return (
    <ActionDialog
      title={`${words[kind]} ${readModelName(report.projection)}`}
      action={start}
      confirm={words[kind]}
      fields={reasonField}
      done="Started"
      report={start.result && <FollowedJob id={start.result.id} />}
      success={start.result && <JobLink job={start.result}>It goes on when this is closed.</JobLink>}
      close={close}
      submit={() => start.submit(reason)}
    >
      <p>{kind === 'rebuild' ? rebuildText(report) : verifyText(report)}</p>
      <p className="hint">It reads the whole log, which loads the event store and Postgres. It can be canceled.</p>
    </ActionDialog>
  )
}

const rebuildText = ({ projection }: ProjectionReport) =>
  `A new table of ${readModelName(projection)} is filled from the log beside the present one. Pages work meanwhile; then they switch to it, and both tables are compared. A rebuild that was canceled or interrupted is continued.`

const verifyText = ({ projection }: ProjectionReport) =>
  `The log is read into a separate table, which is compared with the present one of ${readModelName(projection)} as of one moment. Nothing is changed.`
