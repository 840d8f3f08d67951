// Colours, fonts and sizes.
import { createTheme, type MantineColorsTuple } from '@mantine/core'

const pine: MantineColorsTuple = [
  '#ebf6f2',
  '#d7ebe4',
  '#add6c8',
  '#80c0aa',
  '#5bae91',
  '#439f80',
  '#2f8a6c',
  '#1f6f5c',
  '#185a4a',
  '#0f463a',
]

export const theme = createTheme({
  primaryColor: 'pine',
  primaryShade: 7,
  colors: { pine },
  autoContrast: true,
  defaultRadius: 6,
  cursorType: 'pointer',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '600' },
  respectReducedMotion: true,
})
