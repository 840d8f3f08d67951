// Chooses the moment as of which the payment is shown.
import { Button, TextInput } from '@mantine/core'
import { useEffect, useId, useState } from 'react'
import { formatTime, fromTimeField, toTimeField, zoneName } from '../../format/time.ts'
import { usePreferences } from '../../layout/Preferences.tsx'
import { stepOf } from './asOf.ts'

/**
 * @param props `moments` at which something happened; `asOf` undefined for now; `choose` is called with undefined for now; `close`
 *   returns to now, too
 */
export function AsOfBar(props: {
  readonly moments: readonly string[]
  readonly asOf: string | undefined
  readonly choose: (asOf: string | undefined) => void
  readonly close: () => void
}) {
  const { moments, asOf, choose, close } = props
  const { zone } = usePreferences()
  const id = useId()
  const shown = asOf === undefined ? 'now' : `${formatTime(asOf, zone)} ${zoneName(asOf, zone)}`
  return (
    <section className="asOf" aria-label="As of" data-past={asOf !== undefined}>
      <div className="asOfSlider">
        <label htmlFor={id}>
          As of <strong>{shown}</strong>
        </label>
        <input
          id={id}
          type="range"
          min={0}
          max={moments.length}
          step={1}
          value={Math.max(0, stepOf(moments, asOf))}
          aria-valuetext={shown}
          onChange={({ currentTarget }) => choose(moments[Number(currentTarget.value)])}
        />
      </div>
      <TimeField asOf={asOf} choose={choose} />
      <Button size="xs" variant="default" onClick={close}>
        {asOf === undefined ? 'Close' : 'Show now'}
      </Button>
    </section>
  )
}

/** The exact time, applied with Enter and when the field is left. */
function TimeField({ asOf, choose }: { readonly asOf: string | undefined; readonly choose: (asOf: string) => void }) {
  const { zone } = usePreferences()
  const value = asOf === undefined ? '' : toTimeField(asOf, zone)
  const [draft, setDraft] = useState(value)
  useEffect(() => setDraft(value), [value])
  const apply = () => {
    const time = fromTimeField(draft, zone)
    if (draft !== value && time !== null) choose(time)
  }
  return (
    <TextInput
      size="xs"
      type="datetime-local"
      step="0.001"
      label={`Exact time (${zone === 'utc' ? 'UTC' : 'local'})`}
      value={draft}
      onChange={({ currentTarget }) => setDraft(currentTarget.value)}
      onBlur={apply}
      onKeyDown={({ key }) => key === 'Enter' && apply()}
    />
  )
}
