// Lines over time. Screen readers get the table beside it instead.
import 'uplot/dist/uPlot.min.css'
import { useComputedColorScheme } from '@mantine/core'
import { useElementSize, useMergedRef } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import UPlot from 'uplot'
import { formatTime } from '../../format/time.ts'

export type ChartSeries = {
  readonly label: string
  /** A variable of the style sheet. */
  readonly color: string
  /** One for each time; null where there is none. */
  readonly values: readonly (number | null)[]
  /** Parts of a whole, on an axis of their own from 0 to 100. */
  readonly isPercentage?: boolean
  /** A value in the legend; a plain number without it. */
  readonly format?: (value: number) => string
}
export type ChartProps = {
  /** Seconds since 1970. */
  readonly times: readonly number[]
  readonly series: readonly ChartSeries[]
  readonly height: number
  readonly isUtc: boolean
  /** What the axes count; `percentages` for series that are parts of a whole. */
  readonly axes: { readonly times: string; readonly values: string; readonly percentages?: string }
}

const daySeconds = 86_400
const labelFont = '12px Geist, system-ui, sans-serif'
/** With more of them, points would hide the line. */
const maxPoints = 16

const plain = (value: number) => value.toLocaleString()
const percent = (value: number) => `${value} %`

export function Chart({ times, series, height, isUtc, axes }: ChartProps) {
  const { ref: measure, width } = useElementSize()
  const [element, setElement] = useState<HTMLDivElement | null>(null)
  const ref = useMergedRef(measure, setElement)
  const scheme = useComputedColorScheme()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours of the style sheet follow the scheme.
  useEffect(() => {
    if (element === null || width === 0) return
    const options = optionsOf({ series, height, width, isUtc, axes, style: getComputedStyle(element) })
    const plot = new UPlot(options, [[...times], ...series.map(({ values }) => [...values])], element)
    return () => plot.destroy()
  }, [element, times, series, height, width, isUtc, axes, scheme])
  return <div ref={ref} className="chart" aria-hidden="true" style={{ minHeight: height }} />
}

function optionsOf(
  about: Omit<ChartProps, 'times'> & { readonly width: number; readonly style: CSSStyleDeclaration },
): UPlot.Options {
  const { series, height, width, isUtc, axes, style } = about
  const color = (name: string) => style.getPropertyValue(name).trim()
  const axis: UPlot.Axis = {
    stroke: color('--ink-soft'),
    font: labelFont,
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    labelFont,
    labelSize: 20,
    labelGap: 2,
  }
  const zone = isUtc ? 'utc' : 'local'
  const textOf = (seconds: number) => formatTime(new Date(seconds * 1_000).toISOString(), zone)
  // Within two days the hour tells more than the day.
  const labels = (_plot: UPlot, ticks: number[], _axis: number, _space: number, stepSeconds: number) =>
    ticks.map((seconds) => (stepSeconds < daySeconds ? textOf(seconds).slice(11, 16) : textOf(seconds).slice(5, 10)))
  const percentages = { ...axis, scale: '%', side: 1 as const, grid: { show: false }, label: axes.percentages ?? '%' }
  const hasPercentages = series.some(({ isPercentage }) => isPercentage)
  return {
    width,
    height,
    tzDate: (seconds) => (isUtc ? UPlot.tzDate(new Date(seconds * 1_000), 'UTC') : new Date(seconds * 1_000)),
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(4, max * 1.1)] }, '%': { range: [0, 100] } },
    axes: [
      { ...axis, size: 28, values: labels, label: axes.times },
      { ...axis, size: 44, label: axes.values },
      ...(hasPercentages ? [{ ...percentages, size: 44 }] : []),
    ],
    legend: { show: true, live: true },
    cursor: { drag: { x: false, y: false } },
    series: [
      { label: 'Time', value: (_plot, seconds) => (seconds === null ? '–' : textOf(seconds).slice(0, 16)) },
      ...series.map(({ label, color: name, isPercentage, values, format = isPercentage ? percent : plain }) => ({
        label,
        stroke: color(name),
        width: 2,
        scale: isPercentage ? '%' : 'y',
        spanGaps: true,
        points: { size: 5, show: values.length <= maxPoints },
        value: (_plot: UPlot, value: number | null) => (value === null ? '–' : format(value)),
        ...(isPercentage && { dash: [4, 3] }),
      })),
    ],
  }
}
