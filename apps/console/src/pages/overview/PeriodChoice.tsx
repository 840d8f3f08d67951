import { NativeSelect } from '@mantine/core'
import { dayIn, recentDays, recentMonths } from '../../format/days.ts'

/** Chooses recent days or a month. @param props `timeZone` of the days */
export function PeriodChoice(props: {
  readonly value: string
  readonly timeZone: string
  readonly change: (period: string) => void
}) {
  const { value, timeZone, change } = props
  const today = dayIn(timeZone, Date.now())
  return (
    <NativeSelect
      size="xs"
      aria-label="Period"
      data={[
        { group: 'Days', items: recentDays(today) },
        { group: 'Months', items: recentMonths(today) },
      ].map(({ group, items }) => ({ group, items: items.map(({ value, label }) => ({ value, label })) }))}
      value={value}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    />
  )
}
