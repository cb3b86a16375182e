// A moment as the pages show it: with its date where that is not today, as of an hour ago just after midnight.
const moment = String.raw`(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d`;

// The pattern, with a moment wherever it says MOMENT.
export const withMoment = ({ source, flags }: RegExp): RegExp => new RegExp(source.replaceAll('MOMENT', moment), flags);
