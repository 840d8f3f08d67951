// A time in the zone that the reader chose; both zones on hover and focus.
import { Tooltip } from '@mantine/core'
import { formatTime, type Zone, zoneName } from '../format/time.ts'
import { usePreferences } from '../layout/Preferences.tsx'

const inZone = (value: string, zone: Zone) => `${formatTime(value, zone)} ${zoneName(value, zone)}`

/** @param props `value` is an ISO time; a dash is shown for null */
export function Time({ value }: { readonly value: string | null | undefined }) {
  const { zone } = usePreferences()
  if (value === null || value === undefined) return <Dash />
  const label = (
    <>
      {inZone(value, 'local')}
      <br />
      {inZone(value, 'utc')}
    </>
  )
  return (
    <Tooltip label={label} events={{ hover: true, focus: true, touch: true }} multiline withArrow openDelay={200}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the other zone must be reachable with the keyboard. */}
      <time className="time" dateTime={value} tabIndex={0}>
        {formatTime(value, zone)}
      </time>
    </Tooltip>
  )
}

/** Stands for a value that there is none of. */
export function Dash() {
  return (
    <span className="dash">
      <span aria-hidden="true">–</span>
      <span className="srOnly">none</span>
    </span>
  )
}
