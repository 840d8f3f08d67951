// A time in the zone that the reader chose; both zones on hover and focus.
import { Tooltip } from '@mantine/core'
import { useContext } from 'react'
import { formatTime, type Zone, zoneName } from '../format/time.ts'
import { usePreferences } from '../layout/Preferences.tsx'
import { LinkedRow } from './linkedRow.ts'

const inZone = (value: string, zone: Zone) => `${formatTime(value, zone)} ${zoneName(value, zone)}`

/** @param props `value` is an ISO time; a dash is shown for null */
export function Time({ value }: { readonly value: string | null | undefined }) {
  const { zone } = usePreferences()
  const isInLink = useContext(LinkedRow)
  if (value === null || value === undefined) return <Dash />
  const [day, timeOfDay] = formatTime(value, zone).split(' ')
  const text = (
    <>
      <span>{day}</span> {timeOfDay !== undefined && <span>{timeOfDay}</span>}
    </>
  )
  if (isInLink)
    return (
      <time className="time" dateTime={value}>
        {text}
      </time>
    )
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
        {text}
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
