// How far something that reads the log is.
import { Progress } from '@mantine/core'
import { shareOf } from '../jobs/jobProgress.ts'

/** @param props `label` names the work; `events` handled so far; `position` reached, and the `head` where it ends */
export function LogProgress(props: {
  readonly label: string
  readonly events: number
  readonly position: string | null
  readonly head: string | null
}) {
  const { label, events, position, head } = props
  const share = shareOf(position, head)
  const percent = share === null ? 0 : Math.floor(share * 100)
  return (
    <div className="logProgress">
      <Progress.Root size="md">
        <Progress.Section value={percent} aria-label={label} animated={percent < 100} />
      </Progress.Root>
      <p className="hint">
        {label}: {events.toLocaleString()} {events === 1 ? 'event' : 'events'}
        {position !== null && head !== null && `, position ${position} of ${head}`}
        {share !== null && ` (${percent} %)`}
      </p>
    </div>
  )
}
